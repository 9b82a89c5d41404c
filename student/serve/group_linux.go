package serve

import (
	"os/exec"
	"syscall"
)

// bindToParent sets cmd to start in its own process group, and to receive SIGTERM from the kernel
// if this process ends before it.
func bindToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

func signalGroup(cmd *exec.Cmd, kill bool) {
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-cmd.Process.Pid, sig) // a group that is gone needs no signal
}
