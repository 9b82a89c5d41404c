package pipeline_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/pipeline"
)

// oneFileDay is the sample day with all attempts in one file, with an unreadable line before each
// run.
func oneFileDay(t *testing.T) string {
	t.Helper()
	day := t.TempDir()
	for _, name := range []string{"problems.jsonl", "catalog.jsonl"} {
		writeFile(t, filepath.Join(day, name), readFile(t, filepath.Join(sampleDay, name)))
	}
	runs, err := filepath.Glob(filepath.Join(sampleDay, "traces", "run=*", "*.jsonl.gz"))
	if err != nil || len(runs) < 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	var all strings.Builder
	for _, path := range runs {
		run := strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "run=")
		all.WriteString("{unreadable}\n")
		for line := range strings.Lines(string(inflate(t, path))) {
			all.WriteString(`{"eval_run_id":"` + run + `",` + line[1:])
		}
	}
	writeFile(t, filepath.Join(day, "traces", "all.jsonl"), all.String())
	return day
}

func newLongRun(t *testing.T, day, out string, workers int) *pipeline.Run {
	t.Helper()
	r := newRun(t, day, out)
	r.Config.Workers = workers
	r.Config.MaxUnreadable = 1
	return r
}

// TestALongFileIsTheSameForAnyWorkers builds a day of one file: several workers process its attempts
// at once, and write the blocks and the corpus that one worker writes.
func TestALongFileIsTheSameForAnyWorkers(t *testing.T) {
	t.Parallel()
	day := oneFileDay(t)
	var want, wantBlocks map[string]string
	for _, workers := range []int{1, 2, 7} {
		r := newLongRun(t, day, filepath.Join(t.TempDir(), "corpus"), workers)
		judge := &crowdedJudge{}
		r.Judge = judge
		build(t, r)
		if together := judge.most.Load(); workers > 1 && together < 2 {
			t.Errorf("%d workers judged %d attempts at once", workers, together)
		}
		blocks := sums(t, filepath.Join(r.Work, "blocks"))
		if want == nil {
			want = sums(t, r.Out)
			wantBlocks = blocks
			verified(t, r.Out)
			continue
		}
		sameFiles(t, "corpus", sums(t, r.Out), want)
		sameFiles(t, "blocks", blocks, wantBlocks)
	}
}

// crowdedJudge counts how many attempts are judged at once, at most. It ends the run at the attempt
// with the number stop, unless that is 0.
type crowdedJudge struct {
	lengthJudge
	now, most, all atomic.Int64
	stop           int64
}

var errStopped = errors.New("stopped by the judge")

func (j *crowdedJudge) Judge(ctx context.Context, trace *arena.Trace, d *arena.Dialogue) (arena.Judgement, error) {
	now := j.now.Add(1)
	defer j.now.Add(-1)
	for most := j.most.Load(); now > most && !j.most.CompareAndSwap(most, now); most = j.most.Load() {
	}
	if j.all.Add(1) == j.stop {
		return arena.Judgement{}, errStopped
	}
	for range 1000 { // let the other workers begin
		if j.most.Load() > 1 {
			break
		}
		runtime.Gosched()
	}
	return j.lengthJudge.Judge(ctx, trace, d)
}

// TestABrokenOffLongFileIsReadAgain ends a build in the midst of a long file: the next one writes what
// an uninterrupted one does.
func TestABrokenOffLongFileIsReadAgain(t *testing.T) {
	t.Parallel()
	day := oneFileDay(t)
	whole := newLongRun(t, day, filepath.Join(t.TempDir(), "corpus"), 3)
	build(t, whole)
	r := newLongRun(t, day, filepath.Join(t.TempDir(), "corpus"), 3)
	r.Judge = &crowdedJudge{stop: 40}
	if _, err := r.Build(t.Context()); !errors.Is(err, errStopped) {
		t.Fatalf("a judge that fails ends the build with %v", err)
	}
	if _, err := os.Stat(r.Out); err == nil {
		t.Error("a corpus was written")
	}
	r.Judge = lengthJudge{}
	build(t, r)
	sameFiles(t, "corpus", sums(t, r.Out), sums(t, whole.Out))
}
