package pipeline_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/internal/daygen"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/shop/steps"
	"github.com/trajectory-arena/arena/pipeline"
)

// generatedDays writes n days with problems, products and agents of their own.
func generatedDays(t *testing.T, n, attempts int) []string {
	t.Helper()
	dir := t.TempDir()
	var days []string
	for i := range n {
		day := filepath.Join(dir, fmt.Sprintf("day%02d", i))
		_, err := daygen.Write(t.Context(), day, daygen.Config{
			Seed: uint64(i) + 1, Day: i, Attempts: attempts, Problems: 12, Products: 80, Sentences: 3, Pages: 2, Agentic: 0.6,
		})
		if err != nil {
			t.Fatal(err)
		}
		days = append(days, day)
	}
	return days
}

// runOfDays is a run that appends to reasons why it makes a block again.
func runOfDays(t *testing.T, days []string, out string, reasons *[]string) *pipeline.Run {
	t.Helper()
	r := wide(newRun(t, days[0], out))
	r.Sources.Days = days
	r.Config.Steps = true
	var mu sync.Mutex
	r.Progress = func(e pipeline.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Why != "" {
			*reasons = append(*reasons, e.Why)
		}
	}
	return r
}

// draftsIn counts the blocks of a work folder that have drafts.
func draftsIn(t *testing.T, work string) int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(work, "blocks", "*", "bodies"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range paths {
		if readFile(t, path) != "" {
			n++
		}
	}
	return n
}

// TestTheNextDayKeepsTheBlocksOfAllOthers adds days in turn. Each build keeps the blocks of the days
// before and compares their drafts again, if they have any. The corpus is that of one build.
func TestTheNextDayKeepsTheBlocksOfAllOthers(t *testing.T) {
	t.Parallel()
	days := generatedDays(t, longtest.Pick(6, 3), 60)
	dir := t.TempDir()
	for n := 1; n <= len(days); n++ {
		var reasons []string
		want := draftsIn(t, filepath.Join(dir, "turns"+pipeline.WorkSuffix))
		build(t, runOfDays(t, days[:n], filepath.Join(dir, "turns"), &reasons))
		for _, reason := range reasons {
			if !strings.HasSuffix(reason, ": protection_mismatch") {
				t.Errorf("with %d days, a block is made again: %s", n, reason)
			}
		}
		if len(reasons) != want {
			t.Errorf("with %d days, %d blocks are guarded again, want %d", n, len(reasons), want)
		}
	}
	build(t, runOfDays(t, days, filepath.Join(dir, "once"), new([]string)))
	sameFiles(t, "in turn", sums(t, filepath.Join(dir, "turns")), sums(t, filepath.Join(dir, "once")))
}

// TestADayThatChangesAnOlderOneChangesItsBlocks adds a day with what attempts of an older one take: a
// problem that was unknown, and a product that was not in the catalogue.
func TestADayThatChangesAnOlderOneChangesItsBlocks(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"problems.jsonl", "catalog.jsonl"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			days := generatedDays(t, 2, 60)
			moveLines(t, filepath.Join(days[0], table), filepath.Join(days[1], table))
			dir := t.TempDir()
			var reasons []string
			build(t, runOfDays(t, days[:1], filepath.Join(dir, "turns"), &reasons))
			build(t, runOfDays(t, days, filepath.Join(dir, "turns"), &reasons))
			isRemade := func(reason string) bool { return strings.HasSuffix(reason, ": config_mismatch") }
			if !slices.ContainsFunc(reasons, isRemade) {
				t.Error("no block of the first day is made again: nothing is shown")
			}
			build(t, runOfDays(t, days, filepath.Join(dir, "once"), new([]string)))
			sameFiles(t, "in turn", sums(t, filepath.Join(dir, "turns")), sums(t, filepath.Join(dir, "once")))
		})
	}
}

// moveLines moves every other line of one file to the end of another.
func moveLines(t *testing.T, path, target string) {
	t.Helper()
	var remaining, moved string
	for i, line := range strings.SplitAfter(readFile(t, path), "\n") {
		if i%2 == 0 {
			remaining += line
		} else {
			moved += line
		}
	}
	writeFile(t, path, remaining)
	writeFile(t, target, readFile(t, target)+moved)
}

// TestEachFailingStepOfTheNextDayIsMended lets each step fail that a build takes on the blocks of
// another day. The next run then writes the corpus of a build of all days.
func TestEachFailingStepOfTheNextDayIsMended(t *testing.T) {
	t.Parallel()
	days := generatedDays(t, 2, 20)
	for _, day := range days {
		leaveRuns(t, day, 2)
	}
	failEachStep(t, 40, func(fsys corpus.FS, out string) error {
		first := runOfDays(t, days[:1], out+".first", new([]string))
		first.Work = out + pipeline.WorkSuffix
		first.Sources.Draft = true
		if _, err := os.Stat(first.Out); err != nil {
			if _, err := first.Build(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r := runOfDays(t, days, out, new([]string))
		r.FS = fsys
		r.Sources.Draft = true
		r.Config.Workers = 1
		_, err := r.Build(t.Context())
		return err
	})
}

// countingSteps is a step judge that records which attempts it is asked about.
type countingSteps struct {
	judges.StepJudge
	mu       sync.Mutex
	requests map[string]bool
}

func (c *countingSteps) Steps(ctx context.Context, t *arena.Trace, d *arena.Dialogue) (arena.StepJudgement, error) {
	c.mu.Lock()
	c.requests[t.RunID+"/"+t.ProblemID] = true
	c.mu.Unlock()
	return c.StepJudge.Steps(ctx, t, d)
}

// TestNoModelIsAskedAboutStepsOfHeldOutProblems builds with a model as step judge. It is not asked
// about attempts that the guard drops, whose requests would be sent to the model's server and paid
// for. The offline rule is asked about all, so that blocks do not depend on the protection.
func TestNoModelIsAskedAboutStepsOfHeldOutProblems(t *testing.T) {
	t.Parallel()
	days := generatedDays(t, 1, 120)
	problems := strings.SplitAfter(readFile(t, filepath.Join(days[0], "problems.jsonl")), "\n")
	heldOut := filepath.Join(t.TempDir(), "held.jsonl")
	writeFile(t, heldOut, strings.Join(problems[:4], ""))
	count := func(name string) int {
		r := runOfDays(t, days, filepath.Join(t.TempDir(), "out"), new([]string))
		r.Sources.HeldOut = []string{heldOut}
		counting := &countingSteps{StepJudge: r.StepJudge, requests: map[string]bool{}}
		r.StepJudge = counting
		r.Instruments.StepsChosen = true
		r.Instruments.StepJudge.Name = name
		build(t, r)
		return len(counting.requests)
	}
	total := count(steps.Name)
	modelSteps := count("llm_steps_v1_test")
	if modelSteps == 0 || modelSteps >= total {
		t.Errorf("a model is asked about %d attempts, the rule about %d: want fewer and not none", modelSteps, total)
	}
}

// withAgentsOfBoth makes the agents of the first day those of the second: the habits of each are then
// from both days.
func withAgentsOfBoth(t *testing.T, days []string) {
	t.Helper()
	const key = `"agent_version_id"`
	metas := [2][]string{}
	for i := range metas {
		paths, err := filepath.Glob(filepath.Join(days[i], "traces", "*", "run.json"))
		if err != nil {
			t.Fatal(err)
		}
		metas[i] = paths
	}
	agentOf := func(path string) string {
		_, rest, _ := strings.Cut(readFile(t, path), key+`: "`)
		agent, _, _ := strings.Cut(rest, `"`)
		return agent
	}
	for i := range min(len(metas[0]), len(metas[1])) {
		path := metas[1][i]
		writeFile(t, path, strings.ReplaceAll(readFile(t, path), agentOf(path), agentOf(metas[0][i])))
	}
}

// batchesOf returns the encoded rows of tables in a work folder by the names of their files.
func batchesOf(t *testing.T, r *pipeline.Run) map[string]string {
	t.Helper()
	return sums(t, filepath.Join(r.Work, "batches"))
}

// TestTheNextDayKeepsTheVerdictsOfAllOthers adds a day with agents of its own, or with agents of another
// day, whose habits change. Only the batches of days with changed verdicts are encoded again, and the
// corpus is that of one build, also if a stored batch was damaged or lost.
func TestTheNextDayKeepsTheVerdictsOfAllOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, days []string, r *pipeline.Run)
		kept   int
	}{
		"own agents":     {func(*testing.T, []string, *pipeline.Run) {}, 2},
		"agents of both": {func(t *testing.T, days []string, _ *pipeline.Run) { withAgentsOfBoth(t, days[1:]) }, 1}, //nolint:thelper // a case
		"damaged": {func(t *testing.T, _ []string, r *pipeline.Run) { //nolint:thelper // a case
			for name := range batchesOf(t, r) {
				path := filepath.Join(r.Work, "batches", name)
				writeFile(t, path, "x"+readFile(t, path))
			}
		}, 2},
		"lost": {func(t *testing.T, _ []string, r *pipeline.Run) { //nolint:thelper // a case
			if err := os.RemoveAll(filepath.Join(r.Work, "batches")); err != nil {
				t.Fatal(err)
			}
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			days := generatedDays(t, 3, 60)
			dir := t.TempDir()
			run := func(days []string, out string) *pipeline.Run {
				r := runOfDays(t, days, filepath.Join(dir, out), new([]string))
				pipeline.BatchFrom(r, 1)
				return r
			}
			first := run(days[:2], "turns")
			build(t, first)
			before := batchesOf(t, first)
			c.change(t, days, first)
			build(t, run(days, "turns"))
			once := run(days, "once")
			build(t, once)
			sameFiles(t, "in turn", sums(t, filepath.Join(dir, "turns")), sums(t, filepath.Join(dir, "once")))
			kept := 0
			after := batchesOf(t, once)
			for name, sum := range before {
				if after[name] == sum {
					kept++
				}
			}
			if len(before) != 2 || len(after) != 3 || kept != c.kept {
				t.Errorf("%d batches of two days and %d of three, %d kept: want 2, 3 and %d", len(before), len(after), kept, c.kept)
			}
			sameFiles(t, "batches", batchesOf(t, first), after)
		})
	}
}

// TestTheNextDayKeepsTheBlocksOfSmallFiles adds a day of so many small files that they share blocks.
// No block of the day before is made again.
func TestTheNextDayKeepsTheBlocksOfSmallFiles(t *testing.T) {
	t.Parallel()
	const files = 70
	days := generatedDays(t, 2, files)
	for _, day := range days {
		for _, path := range traceFiles(t, day) {
			for i, line := range strings.SplitAfter(strings.TrimSpace(readFile(t, path)), "\n") {
				writeFile(t, filepath.Join(filepath.Dir(path), fmt.Sprintf("a%03d.jsonl", i)), line)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := t.TempDir()
	var reasons []string
	build(t, runOfDays(t, days[:1], filepath.Join(dir, "turns"), &reasons))
	build(t, runOfDays(t, days, filepath.Join(dir, "turns"), &reasons))
	for _, reason := range reasons {
		if !strings.HasSuffix(reason, ": protection_mismatch") {
			t.Errorf("a block is made again: %s", reason)
		}
	}
	if len(reasons) == 0 || len(reasons) >= files {
		t.Errorf("%d blocks of %d files are guarded again: nothing is shown", len(reasons), files)
	}
	build(t, runOfDays(t, days, filepath.Join(dir, "once"), new([]string)))
	sameFiles(t, "in turn", sums(t, filepath.Join(dir, "turns")), sums(t, filepath.Join(dir, "once")))
}

// TestABucketKeepsNoOldBatches builds a day, and then it and another, in a bucket and with a new process
// each time. Their verdicts are one batch, so that the batch of the first build is not needed.
func TestABucketKeepsNoOldBatches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := bucket.Create(t.Context(), "file://"+filepath.ToSlash(dir))
	if err != nil {
		t.Fatal(err)
	}
	days := generatedDays(t, 2, 70)
	for n := range days {
		r := runOfDays(t, days[:n+1], filepath.Join(t.TempDir(), "out"), new([]string))
		r.FS = bucket.NewWork(t.Context(), b, r.Work, pipeline.SharedUnit)
		build(t, r)
		batches, err := b.Files(t.Context()).ReadDir("batches")
		if err != nil || len(batches) != 1 {
			t.Errorf("after build %d: %d batches, %v", n, len(batches), err)
		}
	}
}
