package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestInterruptedSaysSoAndLeavesNothing interrupts a build that waits for its
// input, which is when people press Ctrl-C.
func TestInterruptedSaysSoAndLeavesNothing(t *testing.T) {
	t.Parallel()
	dir, day := t.TempDir(), filepath.Join("..", "..", "testdata", "day")
	c := exec.Command(program(t), "build", "-", "-o", filepath.Join(dir, "corpus"),
		"--problems", filepath.Join(day, "problems.jsonl"), "--catalog", filepath.Join(day, "catalog.jsonl"))
	in, err := c.StdinPipe() // open, and nothing ever comes
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var words bytes.Buffer
	c.Stderr = &words
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for spooling := false; !spooling; time.Sleep(5 * time.Millisecond) {
		spooled, err := filepath.Glob(filepath.Join(dir, "corpus.work", "stdin-*"))
		spooling = err == nil && len(spooled) > 0
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // its exit code is looked at below
	if code := c.ProcessState.ExitCode(); code != exitCancelled || !strings.Contains(words.String(), "arena: hint: run the same command again") {
		t.Errorf("exit %d, want %d\n%s", code, exitCancelled, words.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "corpus")); err == nil {
		t.Error("a corpus was left behind")
	}
}
