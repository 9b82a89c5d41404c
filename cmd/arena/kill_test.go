package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// otherBuild returns the path in ARENA_PROGRAM of a program of another commit. The tests of
// processes and the scripts compare with it: docs/measured/found.md.
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

// TestKilledAndResumed kills builds, imports and mixtures at several moments, from the first file read to
// the last rename, and resumes each: no partial corpus is visible, and the last one is that of an
// uninterrupted run. Without the tag long it kills one build.
func TestKilledAndResumed(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: the race detector cannot report from a killed process")
	}
	t.Parallel()
	arena := program(t)
	dir := t.TempDir()
	day := testDay
	inDir := func(name string) string { return filepath.Join(dir, name) }
	killedAndResumed(t, arena, inDir("built"), []string{"build", day, "-q"})
	if !longtest.Tests {
		return
	}
	killedAndResumed(t, arena, inDir("imported"), []string{"import", day, "--unguarded", "-q"})
	if b, err := exec.Command(arena, "build", day, "-o", inDir("other"), "-q", "--set", "guard.seed=7").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, b)
	}
	killedAndResumed(t, arena, inDir("mixed"), []string{"mix", inDir("built") + ":0.5", inDir("other") + ":0.5", "-q"})
}

// killedAndResumed compares a command that writes a corpus in one run with one that is killed and
// resumed.
func killedAndResumed(t *testing.T, arena, uncut string, args []string) {
	t.Helper()
	killed := uncut + "-killed"
	command := func(out string) *exec.Cmd {
		return exec.Command(arena, append(args[:len(args):len(args)], "-o", out)...)
	}
	must := func(c *exec.Cmd) {
		t.Helper()
		if b, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, b)
		}
	}
	start := time.Now()
	must(command(uncut))
	took := time.Since(start)
	for i := range 5 {
		if i != 3 && !longtest.Tests {
			continue
		}
		c := command(killed)
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
	must(command(killed))
	if !bytes.Equal(read(t, uncut), read(t, killed)) {
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

// stages runs the steps of one build as an engine does.
type stages struct {
	t     *testing.T
	arena string
	dir   string
	work  string
}

func (s stages) day() string { return testDay }

func (s stages) inDir(name string) string { return filepath.Join(s.dir, name) }

func (s stages) step(step, shard string) *exec.Cmd {
	args := []string{"stage", step, "--plan", s.inDir("plan"), "--work", s.work, "-q"}
	if step != "group" {
		args = append(args, "--shard", shard)
	}
	c := exec.Command(s.arena, args...)
	c.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret", "TMPDIR="+s.dir) // for what killed ones leave
	return c
}

func (s stages) must(c *exec.Cmd) {
	s.t.Helper()
	if b, err := c.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %v\n%s", c.Args, err, b)
	}
}

// killed starts a process and kills it after some time; false where it ended before.
func (s stages) killed(c *exec.Cmd, after time.Duration) bool {
	s.t.Helper()
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(after)
	_ = c.Process.Kill() // it may have ended already
	return c.Wait() != nil
}

// asOneBuild compares the result of the steps with that of one build.
func (s stages) asOneBuild() {
	s.t.Helper()
	if !bytes.Equal(read(s.t, s.inDir("stages")), read(s.t, s.inDir("whole"))) {
		s.t.Error("the manifest of the stages differs from that of one build")
	}
	s.must(exec.Command(s.arena, "verify", s.inDir("stages"), "-q"))
}

func newStages(t *testing.T, shards int) stages {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: the race detector cannot report from a killed process")
	}
	t.Parallel()
	s := stages{t, program(t), t.TempDir(), ""}
	s.work = s.inDir("w")
	buildTestDay(t, s.inDir("whole"))
	s.plan(s.inDir("stages"), shards)
	return s
}

// plan plans a build into a folder or a bucket.
func (s stages) plan(out string, shards int) {
	s.t.Helper()
	day, err := filepath.Abs(s.day())
	if err != nil {
		s.t.Fatal(err)
	}
	c := exec.Command(s.arena, "build", day, "-o", out, "--plan", s.inDir("plan"), "--shards", strconv.Itoa(shards), "-q")
	c.Dir = s.dir // gets the work folder of a corpus in a bucket
	s.must(c)
}

// TestAKilledStageIsRunAgain runs four processes a step over one folder, those of group at once; one of
// each step is killed and run again.
func TestAKilledStageIsRunAgain(t *testing.T) {
	s := newStages(t, 4)
	for _, step := range []string{"map", "group", "write"} {
		shards := []string{"1/4", "0/4", "3/4", "2/4"}
		s.killed(s.step(step, shards[0]), 30*time.Millisecond)
		var sharing sync.WaitGroup
		for _, shard := range shards {
			if step == "group" {
				sharing.Go(func() {
					if b, err := s.step(step, "").CombinedOutput(); err != nil {
						t.Errorf("%v: %s", err, b)
					}
				})
				continue
			}
			s.must(s.step(step, shard))
		}
		sharing.Wait()
	}
	s.asOneBuild()
}

// TestTwinsOfAShard runs two processes on every shard at once and kills one of them at a random
// moment. The result must be the corpus of one build without other files. With the tag long it
// repeats this until a hundred processes were killed.
func TestTwinsOfAShard(t *testing.T) {
	s := newStages(t, 2)
	minKills := longtest.Pick(30, 1)
	kills := 0
	draw := rand.New(rand.NewPCG(24, 1))
	for kills < minKills {
		for _, name := range []string{"w", "stages"} {
			if err := os.RemoveAll(s.inDir(name)); err != nil {
				t.Fatal(err)
			}
		}
		for _, call := range [][2]string{{"map", "1/2"}, {"map", "0/2"}, {"group", "0/1"}, {"write", "1/2"}, {"write", "0/2"}} {
			twin := s.step(call[0], call[1])
			if err := twin.Start(); err != nil {
				t.Fatal(err)
			}
			if s.killed(s.step(call[0], call[1]), time.Duration(draw.IntN(150))*time.Millisecond) {
				kills++
			}
			if err := twin.Wait(); err != nil {
				t.Fatalf("the twin of a killed process: %v: %v", call, err)
			}
		}
		if remaining, err := os.ReadDir(s.inDir("w/making")); err != nil || len(remaining) > 1 {
			t.Errorf("left over: %v: %v", remaining, err)
		}
		s.asOneBuild()
	}
}
