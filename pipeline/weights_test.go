package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

// moodyJudge grades as lengthJudge does, but returns no answer for about a quarter of the attempts.
type moodyJudge struct{}

func (moodyJudge) Judge(ctx context.Context, t *arena.Trace, d *arena.Dialogue) (arena.Judgement, error) {
	if t.RecordSHA256 < "4" {
		return arena.Judgement{Judge: "length_v0", Outcome: arena.JudgeUnparsed, Detail: "no answer"}, nil
	}
	return lengthJudge{}.Judge(ctx, t, d)
}

func rowsOf[T any](t *testing.T, pattern ...string) []T {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file at %v: %v", pattern, err)
	}
	var out []T
	for _, f := range files {
		err := corpus.ReadRows(corpus.Disk{}, f, func(row *T) error {
			b, err := json.Marshal(row) // a row is valid only within its visit
			if err != nil {
				return err
			}
			var value T
			err = json.Unmarshal(b, &value)
			out = append(out, value)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// attemptsOf are the ledger's attempts by trace id, copies left out.
func attemptsOf(t *testing.T, out string) map[string]rows.Attempt {
	t.Helper()
	byID := map[string]rows.Attempt{}
	for _, a := range rowsOf[rows.Attempt](t, out, "tables", "attempts.parquet") {
		if a.Stage != "read" {
			byID[a.TraceID] = a
		}
	}
	return byID
}

// qualities adds up the ledger's scores by run.
func qualities(t *testing.T, out string) map[string]multiplier.Quality {
	t.Helper()
	attempts := attemptsOf(t, out)
	byRun := map[string]multiplier.Quality{}
	for _, j := range rowsOf[rows.Judgement](t, out, "tables", "judgements.parquet") {
		run := attempts[j.TraceID].RunID
		byRun[run] = byRun[run].Add(j.Score)
	}
	return byRun
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

func TestANewScaleJudgesNothingAgain(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "corpus")
	builtSample(t, out)
	r := newRun(t, sampleDay, out)
	r.Judge = nil // a block that is made again would call it
	r.Config.Multiplier.Scale = outcome.Scale{Floor: 0.5, Ceiling: 1}
	build(t, r)
	for _, row := range rowsOf[rows.SFT](t, out, "data", "sft", "*.parquet") {
		if want := 0.5 + *row.JudgeScore/2; !near(row.Reward, want) || !near(*row.JudgeMultiplier, want) {
			t.Errorf("%s: score %v, reward %v, multiplier %v, want %v", row.SessionID, *row.JudgeScore, row.Reward, *row.JudgeMultiplier, want)
		}
	}
	card, err := os.ReadFile(filepath.Join(out, "README.md"))
	if err != nil || !strings.Contains(string(card), "0.5 at grade 0, rising linearly to 1 at grade 1 and above") {
		t.Errorf("the card does not give the scale: %v", err)
	}
}

func TestARunsMeanWeighsItsAttempts(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "corpus")
	r := newRun(t, sampleDay, out)
	r.Config.Multiplier.Per = multiplier.Run
	build(t, r)
	attempts := attemptsOf(t, out)
	runs := qualities(t, out)
	for _, row := range rowsOf[rows.SFT](t, out, "data", "sft", "*.parquet") {
		if want := outcome.Multiplier(*runs[attempts[row.SessionID].RunID].Mean()); !near(row.Reward, want) {
			t.Errorf("%s: reward %v, want %v", row.SessionID, row.Reward, want)
		}
	}
}

func TestUnscoredAttemptsAreNoLowGrades(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unscored := func(how multiplier.Unscored) (count int, r *pipeline.Run) {
		r = newRun(t, sampleDay, filepath.Join(dir, string(how)))
		r.Judge = moodyJudge{}
		r.Config.MaxUnscored = 1
		r.Config.Multiplier.Unscored = how
		s := build(t, r)
		if failed := s.Funnel[3].Failures["unparsed"]; (failed == 0) != (how == multiplier.Mean) {
			t.Errorf("%s: %d attempts failed for want of a grade", how, failed)
		}
		runs := qualities(t, r.Out)
		attempts := attemptsOf(t, r.Out)
		without := map[string]bool{}
		for _, j := range rowsOf[rows.Judgement](t, r.Out, "tables", "judgements.parquet") {
			without[j.TraceID] = j.Score == nil
		}
		for _, row := range rowsOf[rows.SFT](t, r.Out, "data", "sft", "*.parquet") {
			if !without[row.SessionID] {
				continue
			}
			count++
			if want := outcome.Multiplier(*runs[attempts[row.SessionID].RunID].Mean()); !near(row.Reward, want) {
				t.Errorf("%s: %s has no grade and reward %v, want %v", how, row.SessionID, row.Reward, want)
			}
		}
		return count, r
	}
	if n, _ := unscored(multiplier.Excluded); n != 0 {
		t.Errorf("%d rows without a grade, though they are excluded", n)
	}
	n, r := unscored(multiplier.Mean)
	if n == 0 {
		t.Error("no row without a grade, though they take the mean")
	}
	var report reports.Judges
	b, err := os.ReadFile(filepath.Join(r.Out, "reports", "judges.json"))
	if err == nil {
		err = json.Unmarshal(b, &report)
	}
	if err != nil || report.Coverage <= 0 || report.Coverage >= 1 || report.Multiplier.Unscored != multiplier.Mean || len(report.Multiplier.Runs) == 0 {
		t.Errorf("judges.json %+v: %v", report, err)
	}
}

// countingJudge grades as lengthJudge does and counts the attempts that it was asked about. It is
// asked about an attempt with an incomplete log twice.
type countingJudge struct {
	requests *atomic.Int64
	asked    *sync.Map
}

func (c countingJudge) Judge(ctx context.Context, t *arena.Trace, d *arena.Dialogue) (arena.Judgement, error) {
	if _, isAsked := c.asked.LoadOrStore(t.ID, true); !isAsked {
		c.requests.Add(1)
	}
	return lengthJudge{}.Judge(ctx, t, d)
}

// TestDroppedAttemptsAreGradedAsASample builds one day with all, one in three and none of the
// dropped attempts graded. The rows are equal, every attempt keeps its row in the ledger, and the
// grade of a sampled attempt is that of the build that grades all. A mean of runs needs all.
func TestDroppedAttemptsAreGradedAsASample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := func(name string, every int, per multiplier.Per) (map[string]string, map[string]rows.Judgement, *pipeline.Summary, int64) {
		var requests atomic.Int64
		r := newRun(t, sampleDay, filepath.Join(dir, name))
		r.Config.Steps = true
		r.Config.Select.SuccessOnly = false
		r.Config.Judge = pipeline.JudgeConfig{DroppedEvery: every}
		r.Config.Multiplier.Per = per
		r.Judge = countingJudge{&requests, &sync.Map{}}
		s := build(t, r)
		judged := map[string]rows.Judgement{}
		for _, j := range rowsOf[rows.Judgement](t, r.Out, "tables", "judgements.parquet") {
			if _, isKnown := judged[j.TraceID]; !isKnown { // the step judge's row is the second
				judged[j.TraceID] = j
			}
		}
		return sums(t, filepath.Join(r.Out, "data")), judged, s, requests.Load()
	}
	allData, grades, summary, requests := data("all", 1, multiplier.Attempt)
	for _, every := range []int{0, 3} {
		sampledData, sampled, s, fewer := data(fmt.Sprint("one in ", every), every, multiplier.Attempt)
		if d := cmp.Diff(allData, sampledData); d != "" {
			t.Errorf("one in %d: %s", every, d)
		}
		outcomes := map[string]int64{}
		for id, j := range sampled {
			outcomes[j.Outcome]++
			want := grades[id]
			if j.OneIn != nil {
				outcomes["drawn"]++
				j.OneIn = nil
			}
			if j.Outcome != string(arena.JudgeNotAsked) && !cmp.Equal(j, want) {
				t.Errorf("one in %d: %s", every, cmp.Diff(want, j))
			}
		}
		judged := s.Funnel[slices.Index([]string{"read", "filter", "score", "judge"}, "judge")]
		if len(sampled) != len(grades) || outcomes["drawn"] != judged.Drawn || outcomes["not_asked"] != judged.NotAsked {
			t.Errorf("one in %d: %d rows of %d, %v, the funnel has %+v", every, len(sampled), len(grades), outcomes, judged)
		}
		hasNoSample := every > 0 && judged.Drawn == 0
		if judged.NotAsked == 0 || hasNoSample || requests-fewer != judged.NotAsked {
			t.Errorf("one in %d: asked about %d instead of %d, %+v", every, fewer, requests, judged)
		}
	}
	if judged := summary.Funnel[3]; judged.NotAsked != 0 || judged.Drawn != 0 {
		t.Errorf("a build that grades all counts %+v", judged)
	}
	if _, _, s, n := data("means of runs", 3, multiplier.Run); n != requests || s.Funnel[3].NotAsked != 0 {
		t.Errorf("a mean of runs rests on %d grades instead of %d", n, requests)
	}
}

// TestLaterAnswersReachTheRows checks that the next build asks again for a judgement that
// was left open. Its corpus then equals that of a judge that answered at once: no row of the first
// build remains.
func TestLaterAnswersReachTheRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	patient := func(name string, judge judges.Judge) string {
		r := newRun(t, sampleDay, filepath.Join(dir, name))
		r.Judge = judge
		r.Config.MaxUnscored = 1
		build(t, r)
		return r.Out
	}
	patient("late", moodyJudge{})
	late := sums(t, patient("late", lengthJudge{}))
	atOnce := sums(t, patient("at once", lengthJudge{}))
	if d := cmp.Diff(atOnce, late); d != "" {
		t.Error(d)
	}
}

func TestTheCardSumsUpThePairs(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "corpus")
	builtSample(t, out)
	var sum corpus.PairSummary
	for _, row := range rowsOf[rows.Pref](t, out, "data", "pref", "*.parquet") {
		sum.Add(&row)
	}
	card, err := os.ReadFile(filepath.Join(out, "README.md"))
	if err != nil || sum.Pairs == 0 || !strings.Contains(string(card), sum.Section().Body) {
		t.Errorf("the card lacks %q: %v", sum.Section().Body, err)
	}
}

func TestStepsAreTheKeptAttemptsLabelled(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "corpus")
	r := newRun(t, sampleDay, out)
	r.Config.Steps = true
	s := build(t, r)
	needed := 0
	for _, split := range []string{"train", "eval"} {
		if s.Rows["steps/"+split] == 0 || s.Rows["steps/"+split] != s.Rows["sft/"+split] {
			t.Errorf("%s: %d rows of steps, %d of sft", split, s.Rows["steps/"+split], s.Rows["sft/"+split])
		}
	}
	for _, row := range rowsOf[rows.Steps](t, out, "data", "steps", "*.parquet") {
		if row.Prompt == "" || row.Rule != "steps_v2" || row.ProblemID == "" || row.Cluster == "" || len(row.Labels) != len(row.Completions) {
			t.Errorf("row %+v", row)
		}
		for _, l := range row.Labels {
			if l {
				needed++
			}
		}
	}
	if needed == 0 {
		t.Error("no step was needed")
	}
	verified(t, out)
}
