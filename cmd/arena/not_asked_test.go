package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/report/attempt"
	"github.com/trajectory-arena/arena/traces"
)

// TestAnAttemptIsGradedWhenItIsShown builds one day with a sample and with all of its dropped attempts
// graded. With the day at hand, an explanation of an attempt that the first build did not ask about
// has the grade of the second.
func TestAnAttemptIsGradedWhenItIsShown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	read := func(name string, args ...string) *attempt.Ledger {
		out := filepath.Join(dir, name)
		if code, _, words := arenaRun(append([]string{"build", wholeDay, "-q", "-o", out}, args...)...); code != cli.ExitOK {
			t.Fatalf("exit %d\n%s", code, words)
		}
		l, err := attempt.Read(corpus.Disk{}, out)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	sampled := read("sampled")
	ledger := read("all", "--set", "judge.dropped_every=1")
	inputs, err := traces.Discover(wholeDay)
	if err != nil {
		t.Fatal(err)
	}
	if err = pipeline.HashInputs(t.Context(), 1, inputs); err != nil {
		t.Fatal(err)
	}
	days := sampled.DaysOf(inputs, traces.DefaultLimits())
	graded := 0
	for i, line := range sampled.Lines {
		if line.Judgement == nil || line.Judgement.Outcome != string(arena.JudgeNotAsked) {
			continue
		}
		a := sampled.Argue(i)
		if err = days.Tell(t.Context(), sampled, a); err != nil {
			t.Fatal(err)
		}
		want := ledger.Argue(i)
		answer := func(j *rows.Judgement) []any { return []any{j.Score, j.Gates, j.Spans, j.Detail} }
		if d := cmp.Diff(answer(want.Judgement), answer(a.Judgement), cmpopts.EquateEmpty()) + cmp.Diff(want.Gates, a.Gates); d != "" || a.Now == nil {
			t.Errorf("%s: %s", line.Attempt.TraceID, d)
		}
		if line.Judgement.Score != nil {
			t.Errorf("%s: the ledger changed", line.Attempt.TraceID)
		}
		graded++
	}
	if graded < 20 {
		t.Errorf("%d attempts were not asked about", graded)
	}
}
