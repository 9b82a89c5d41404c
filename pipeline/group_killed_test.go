package pipeline_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/pipeline"
)

// headCopies is how many times killed processes group the attempts of the sample day.
const headCopies = 12

// TestAKilledGroupIsRunAgain runs two processes of the group step at once over one work folder, which
// share its pieces, and kills one of them while it makes a piece. The plan is never a part of one, and
// is that of a process that was not killed. No piece is left.
func TestAKilledGroupIsRunAgain(t *testing.T) {
	const key = "ARENA_TEST_GROUP"
	if dir := os.Getenv(key); dir != "" {
		if err := pipeline.GroupHeads(t.Context(), newRun(t, sampleDay, filepath.Join(dir, "corpus")), filepath.Join(dir, "heads"), headCopies, 3, 1); err != nil {
			t.Fatal(err)
		}
		return
	}
	if testing.Short() {
		t.Skip("left out by -short: the race detector cannot report from a killed process")
	}
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "corpus")
	builtSample(t, out)
	r := newRun(t, sampleDay, out)
	if err := pipeline.WriteHeads(t.Context(), r, filepath.Join(dir, "heads"), headCopies); err != nil {
		t.Fatal(err)
	}
	if err := pipeline.GroupHeads(t.Context(), r, filepath.Join(dir, "heads"), headCopies, 1, 1<<30); err != nil {
		t.Fatal(err)
	}
	plan := filepath.Join(r.Work, "plan.json")
	want := readFile(t, plan)
	group := func() *exec.Cmd {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), key+"="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	// shuffled returns the path of an unfinished piece, as soon as there is one.
	shuffled := func(limit time.Duration) string {
		for end := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
			files, _ := filepath.Glob(filepath.Join(r.Work, "making", "*", "*-[0-2]")) // the pattern is valid
			if len(files) > 0 {
				return files[0]
			}
			if time.Now().After(end) {
				return ""
			}
		}
	}
	killed := 0
	random := rand.New(rand.NewPCG(49, 4))
	for range longtest.Pick(15, 3) {
		if err := os.Remove(plan); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		victim := group()
		shuffled(10 * time.Second)
		twin := group()
		time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		_ = victim.Process.Kill() // it may have ended already
		if _, err := os.Stat(plan); victim.Wait() != nil && err != nil {
			killed++
		}
		if b, err := os.ReadFile(plan); err == nil && string(b) != want {
			t.Error("a plan that is not whole")
		}
		if err := twin.Wait(); err != nil {
			t.Fatalf("the twin of a killed process: %v", err)
		}
		if readFile(t, plan) != want {
			t.Error("the plan of a killed process differs")
		}
	}
	t.Logf("%d processes were killed before there was a plan", killed)
	if killed == 0 {
		t.Error("no process was killed before there was a plan")
	}
	if err := group().Wait(); err != nil {
		t.Fatal(err)
	}
	if output := shuffled(0); output != "" || readFile(t, plan) != want {
		t.Errorf("after an uninterrupted run: file %q, or another plan", output)
	}
}
