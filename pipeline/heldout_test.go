package pipeline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/mix"
)

// The door mat of the sample day is asked for twice, with one gold product.
const (
	doorMat = "a8d994cf-5b3c-489f-abcc-3c8f4bbdfec7"
	twin    = "b8b81153-f77b-4f61-a25b-87eaeba4bbc4"
)

// trained counts the rows of the problems in the train split, over all configs.
func trained(t *testing.T, dir string, problems ...string) int {
	t.Helper()
	s, err := finish.Open(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	count := func(of *rows.Origin) error {
		if slices.Contains(problems, of.ProblemID) {
			n++
		}
		return nil
	}
	err = errors.Join(
		finish.Rows(s, corpus.ProfileHFJSON, corpus.SplitTrain, func(r *rows.SFT) error { return count(&r.Origin) }),
		finish.Rows(s, corpus.ProfileKTO, corpus.SplitTrain, func(r *rows.KTO) error { return count(&r.Origin) }),
		finish.Rows(s, corpus.ProfilePref, corpus.SplitTrain, func(r *rows.Pref) error { return count(&r.Origin) }),
		finish.Rows(s, corpus.ProfileVerlRL, corpus.SplitTrain, func(r *rows.RL) error { return count(&r.Origin) }),
	)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// queryOf is the request of a problem of the sample day.
func queryOf(t *testing.T, id string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(sampleDay, "problems.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problemsOf(t, string(b)) {
		if p.ID == id {
			return p.Query
		}
	}
	t.Fatalf("no problem %s", id)
	return ""
}

// TestHeldOutStaysHeldOut: what was held out once is in no train split of what is
// made later, whether or not the held-out file is given again.
func TestHeldOutStaysHeldOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	held := in("held.jsonl")
	if err := os.WriteFile(held, fmt.Appendf(nil, "{\"id\":\"mat\",\"query\":%q}\n", queryOf(t, doorMat)), 0o600); err != nil {
		t.Fatal(err)
	}
	build(t, newRun(t, sampleDay, in("open")))
	if trained(t, in("open"), doorMat, twin) == 0 {
		t.Fatal("the day has no training row of the held-out problem: nothing is shown")
	}
	guarded := newRun(t, sampleDay, in("guarded"))
	guarded.Sources.HeldOut = []string{held}
	build(t, guarded)
	next := newRun(t, sampleDay, in("next"))
	next.Sources.Bank = in("guarded/bank.json")
	build(t, next)
	m := mix.Mix{Sources: []mix.Source{{Dir: in("guarded"), Weight: 1}, {Dir: in("open"), Weight: 1}}, Config: mix.Defaults(), Workers: 2,
		Target: finish.Target{FS: corpus.Disk{}, Out: in("mixed"), Version: "test"}}
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"guarded", "next", "mixed"} {
		if n := trained(t, in(name), doorMat, twin); n > 0 {
			t.Errorf("%s: %d training rows of the held-out problem or its twin", name, n)
		}
	}
	again := newRun(t, sampleDay, in("guarded"))
	if _, err := again.Build(t.Context()); !errors.Is(err, finish.ErrNotProtected) {
		t.Errorf("the guarded corpus is replaced by an unguarded one: %v", err)
	}
	again.Sources.Bank = in("guarded/bank.json")
	build(t, again)
}
