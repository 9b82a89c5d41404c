package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

// TestAnInterruptIsReportedAndLeavesNothing interrupts a build that waits for its input, as a user
// does with Ctrl-C. It sends the signal twice, as a program does that signals a process and its
// group.
func TestAnInterruptIsReportedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	day := testDay
	c := exec.Command(program(t), "build", "-", "-o", filepath.Join(dir, "corpus"),
		"--problems", filepath.Join(day, "problems.jsonl"), "--catalog", filepath.Join(day, "catalog.jsonl"))
	stdin, err := c.StdinPipe() // an open pipe that is never written to
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var words bytes.Buffer
	c.Stderr = &words
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "a copy of the input", func() bool {
		spooled, err := filepath.Glob(filepath.Join(dir, "corpus.work", "stdin-*"))
		return err == nil && len(spooled) > 0
	})
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Process.Signal(os.Interrupt) // as timeout(1) does; the process may have exited
	_ = c.Wait()                       // the test checks its exit code below
	if code := c.ProcessState.ExitCode(); code != cli.ExitCancelled || !strings.Contains(words.String(), "arena: hint: run the same command again") {
		t.Errorf("exit %d, want %d\n%s", code, cli.ExitCancelled, words.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "corpus")); err == nil {
		t.Error("an interrupted build left a corpus")
	}
}

// until waits for something to be so that takes no minute on any machine.
func until(t *testing.T, event string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain for " + event)
		}
	}
}
