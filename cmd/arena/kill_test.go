package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// program is this test's binary under the name of the command that
// testscript.Main runs for it.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "arena")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestKilledAndResumed kills builds at several moments, from the first block to
// the last rename, and lets each go on: the corpus is that of a build that was
// never touched.
func TestKilledAndResumed(t *testing.T) {
	t.Parallel()
	arena, dir, day := program(t), t.TempDir(), filepath.Join("..", "..", "testdata", "day")
	build := func(out string) *exec.Cmd {
		return exec.Command(arena, "build", day, "-o", filepath.Join(dir, out), "-q")
	}
	began := time.Now()
	if b, err := build("whole").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, b)
	}
	took := time.Since(began)
	for i := range 5 {
		c := build("killed")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(i+1) / 7)
		_ = c.Process.Kill() // it may have ended already
		_ = c.Wait()         // killed, or done before
	}
	if b, err := build("killed").CombinedOutput(); err != nil {
		t.Fatalf("resume: %v\n%s", err, b)
	}
	want, got := read(t, dir, "whole"), read(t, dir, "killed")
	if !bytes.Equal(want, got) {
		t.Error("the manifest of the resumed build differs: so does some file of the corpus")
	}
	if b, err := exec.Command(arena, "verify", filepath.Join(dir, "killed")).CombinedOutput(); err != nil {
		t.Errorf("verify: %v\n%s", err, b)
	}
}

func read(t *testing.T, dir, corpus string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, corpus, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAKilledStageIsRunAgain runs the three steps as an engine does, four
// processes a step over one folder; one of each step is killed and run again.
func TestAKilledStageIsRunAgain(t *testing.T) {
	t.Parallel()
	arena, dir, day := program(t), t.TempDir(), filepath.Join("..", "..", "testdata", "day")
	stage := func(step, shard string) *exec.Cmd {
		return exec.Command(arena, "stage", step, day, "--work", filepath.Join(dir, "w"), "--shard", shard, "-o", filepath.Join(dir, "stages"), "-q")
	}
	must := func(c *exec.Cmd) {
		t.Helper()
		if b, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, b)
		}
	}
	kill := func(c *exec.Cmd) {
		t.Helper()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond)
		_ = c.Process.Kill() // it may have ended already
		_ = c.Wait()         // killed, or done before
	}
	for _, step := range []string{"map", "group", "write"} {
		kill(stage(step, "0/4"))
		if step == "group" {
			must(stage(step, "0/1"))
			continue
		}
		for _, shard := range []string{"1/4", "0/4", "3/4", "2/4"} {
			must(stage(step, shard))
		}
	}
	must(exec.Command(arena, "build", day, "-o", filepath.Join(dir, "whole"), "-q"))
	if !bytes.Equal(read(t, dir, "stages"), read(t, dir, "whole")) {
		t.Error("the manifest of the stages differs from that of one build")
	}
	must(exec.Command(arena, "verify", filepath.Join(dir, "stages")))
}
