//go:build !linux

package serve

import (
	"os"
	"os/exec"
)

func bindToParent(*exec.Cmd) {}

func signalGroup(cmd *exec.Cmd, kill bool) {
	if kill {
		_ = cmd.Process.Kill() // a process that is gone needs no signal
		return
	}
	_ = cmd.Process.Signal(os.Interrupt) // a process that is gone needs no signal
}
