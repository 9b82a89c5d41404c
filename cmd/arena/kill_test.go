package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/internal/long"
)

// otherBuild is the program of another commit that the tests of processes and the
// scripts are held against, in ARENA_PROGRAM: docs/measured/found.md.
func otherBuild() string { return os.Getenv("ARENA_PROGRAM") }

// program is this test's binary under the name of the command that
// testscript.Main runs for it.
func program(t *testing.T) string {
	t.Helper()
	if other := otherBuild(); other != "" {
		return other
	}
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

// TestKilledAndResumed kills builds and mixtures at several moments, from the
// first file read to the last rename, and lets each go on: no half of a corpus
// is seen, and the last is that of a run that was never touched. Without the tag
// long it kills each once.
func TestKilledAndResumed(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector hears nothing of a killed process")
	}
	t.Parallel()
	arena, dir, day := program(t), t.TempDir(), filepath.Join("..", "..", "testdata", "day")
	in := func(name string) string { return filepath.Join(dir, name) }
	if b, err := exec.Command(arena, "build", day, "-o", in("other"), "-q", "--set", "guard.seed=7").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, b)
	}
	killedAndResumed(t, arena, in("built"), []string{"build", day, "-q"})
	killedAndResumed(t, arena, in("mixed"), []string{"mix", in("built") + ":0.5", in("other") + ":0.5", "-q"})
}

// killedAndResumed runs a command that writes a corpus, whole and killed.
func killedAndResumed(t *testing.T, arena, whole string, args []string) {
	t.Helper()
	killed := whole + "-killed"
	to := func(out string) *exec.Cmd {
		return exec.Command(arena, append(args[:len(args):len(args)], "-o", out)...)
	}
	must := func(c *exec.Cmd) {
		t.Helper()
		if b, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, b)
		}
	}
	began := time.Now()
	must(to(whole))
	took := time.Since(began)
	for i := range 5 {
		if i != 3 && !long.Tests {
			continue
		}
		c := to(killed)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(i+1) / 7)
		_ = c.Process.Kill() // it may have ended already
		_ = c.Wait()         // killed, or done before
		if _, err := os.Stat(killed); err == nil {
			must(exec.Command(arena, "verify", killed, "-q"))
			if err := os.RemoveAll(killed); err != nil {
				t.Fatal(err)
			}
		}
	}
	must(to(killed))
	if !bytes.Equal(read(t, whole), read(t, killed)) {
		t.Errorf("%v: the manifest of the resumed run differs: so does some file of the corpus", args)
	}
	must(exec.Command(arena, "verify", killed, "-q"))
}

func read(t *testing.T, corpus string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAKilledStageIsRunAgain runs the three steps as an engine does, four
// processes a step over one folder; one of each step is killed and run again.
func TestAKilledStageIsRunAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector hears nothing of a killed process")
	}
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
	if !bytes.Equal(read(t, filepath.Join(dir, "stages")), read(t, filepath.Join(dir, "whole"))) {
		t.Error("the manifest of the stages differs from that of one build")
	}
	must(exec.Command(arena, "verify", filepath.Join(dir, "stages")))
}
