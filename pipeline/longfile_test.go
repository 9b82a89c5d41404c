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
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/longtest"
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
	r.Config.Judge.DroppedEvery = 1
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

// endingDisk ends a run as it begins to write a segment (the results for a part of a long file), after
// as many as left.
type endingDisk struct {
	corpus.Disk
	left int
}

func (d *endingDisk) Create(path string) (corpus.File, error) {
	if filepath.Ext(path) == ".segment" {
		if d.left--; d.left < 0 {
			return nil, errStopped
		}
	}
	return d.Disk.Create(path)
}

// end ends a build of one long file after n more segments.
func end(t *testing.T, r *pipeline.Run, n int) {
	t.Helper()
	info, err := os.Stat(filepath.Join(r.Sources.Days[0], "traces", "all.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	pipeline.CutInto(r, info.Size()/(minSegments*3/2))
	r.FS = &endingDisk{left: n}
	if _, err := r.Build(t.Context()); !errors.Is(err, errStopped) {
		t.Fatalf("a disk that fails ends the build with %v", err)
	}
	if _, err := os.Stat(r.Out); err == nil {
		t.Fatal("a corpus was written")
	}
	r.FS = corpus.Disk{}
}

// minSegments is the least number of segments of the sample day in these tests.
const minSegments = 13

// TestALongFileIsContinued ends the build of one long file within each of its segments: the last build
// asks the judge only about the attempts after them, with any number of workers, and writes the blocks
// and the corpus that an undisturbed build does.
func TestALongFileIsContinued(t *testing.T) {
	t.Parallel()
	day := oneFileDay(t)
	whole := newLongRun(t, day, filepath.Join(t.TempDir(), "corpus"), 3)
	judge := &crowdedJudge{}
	whole.Judge = judge
	build(t, whole)
	all := judge.all.Load()
	wantBlocks := sums(t, filepath.Join(whole.Work, "blocks"))
	for _, workers := range []int{1, 2, 5} {
		r := newLongRun(t, day, filepath.Join(t.TempDir(), "corpus"), workers)
		step := longtest.Pick(1, 3)
		for n := 0; n < minSegments; n += step {
			end(t, r, min(n, step))
			files, err := filepath.Glob(filepath.Join(r.Work, "segments", "*", "*"))
			if err != nil || len(files) != n {
				t.Fatalf("%d segments, want %d, %v", len(files), n, err)
			}
		}
		judge = &crowdedJudge{}
		r.Judge = judge
		build(t, r)
		if rest := judge.all.Load(); rest > all/3 {
			t.Errorf("the last build asks the judge %d times, an undisturbed one %d times", rest, all)
		}
		sameFiles(t, "blocks", sums(t, filepath.Join(r.Work, "blocks")), wantBlocks)
		sameFiles(t, "corpus", sums(t, r.Out), sums(t, whole.Out))
		if _, err := os.Stat(filepath.Join(r.Work, "segments")); err == nil {
			t.Error("the segments of a finished build are left")
		}
	}
}

// TestUnusableSegmentsAreMadeAgain changes what an ended build of a long file left, or what the next
// build is asked for, and compares the blocks with those of an undisturbed build.
func TestUnusableSegmentsAreMadeAgain(t *testing.T) {
	t.Parallel()
	day := oneFileDay(t)
	change := func(t *testing.T, r *pipeline.Run, name string, change func(text []byte) []byte) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(r.Work, "segments", "*", name))
		if err != nil || len(files) != 1 {
			t.Fatalf("%d segments %s, %v", len(files), name, err)
		}
		writeFile(t, files[0], string(change([]byte(readFile(t, files[0])))))
	}
	flip := func(text []byte) []byte {
		text[len(text)/2] ^= 1
		return text
	}
	cut := func(text []byte) []byte { return text[:9] }
	var second []byte
	for name, c := range map[string]func(t *testing.T, r *pipeline.Run){
		"damaged": func(t *testing.T, r *pipeline.Run) { change(t, r, "1", flip) },
		"cut":     func(t *testing.T, r *pipeline.Run) { change(t, r, "0", cut) },
		"of another place": func(t *testing.T, r *pipeline.Run) {
			change(t, r, "1", func(text []byte) []byte { second = text; return text })
			change(t, r, "0", func([]byte) []byte { return second })
		},
		"of another configuration": func(_ *testing.T, r *pipeline.Run) { r.Config.Judge.DroppedEvery = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newLongRun(t, day, filepath.Join(t.TempDir(), "corpus"), 2)
			end(t, r, 3)
			c(t, r)
			build(t, r)
			whole := newLongRun(t, day, filepath.Join(t.TempDir(), "corpus"), 2)
			whole.Config = r.Config
			build(t, whole)
			sameFiles(t, "blocks", sums(t, filepath.Join(r.Work, "blocks")), sums(t, filepath.Join(whole.Work, "blocks")))
			sameFiles(t, "corpus", sums(t, r.Out), sums(t, whole.Out))
		})
	}
}
