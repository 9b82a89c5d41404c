package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

// TestARunThatTheSystemHasNoFilesForIsRefused before anything is asked. Few
// rollouts need few connections, whatever the concurrency.
func TestARunThatTheSystemHasNoFilesForIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell that sets a limit")
	}
	catalog, problems := evalInputs(t, "one", "two")
	for samples, want := range map[string]int{"4": cli.ExitLimit, "40": cli.ExitUsage} {
		run := filepath.Join(t.TempDir(), "run")
		c := exec.Command("sh", "-c", `ulimit -n 100 && exec "$@"`, "sh", program(t), "eval", "--endpoint", "http://127.0.0.1:1/v1", "--retries", "0",
			"--model", "m", "--problems", problems, "--catalog", catalog, "-o", run, "--concurrency", "512", "-k", samples)
		out, _ := c.CombinedOutput() // its exit code is looked at below
		if code := c.ProcessState.ExitCode(); code != want || want == cli.ExitUsage && !strings.Contains(string(out), "take 152 open files, and the system gives 100") {
			t.Errorf("%s samples: exit %d, want %d\n%s", samples, code, want, out)
		}
		if _, err := os.Stat(run); (err == nil) != (want == cli.ExitLimit) {
			t.Errorf("%s samples: %v", samples, err)
		}
	}
}
