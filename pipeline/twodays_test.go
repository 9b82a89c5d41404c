package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard"
)

// TestRewordingOnALaterDayIsNotTrainedOn builds a second day in which each problem has its words in
// another order and another product. Rows of the first day are withdrawn if their rewording is
// assigned to a protected pool.
func TestRewordingOnALaterDayIsNotTrainedOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	second := filepath.Join(dir, "second")
	day := filepath.Join(dir, "day")
	builtSample(t, first)
	if err := os.CopyFS(day, os.DirFS(sampleDay)); err != nil {
		t.Fatal(err)
	}
	old, next := rewordDay(t, filepath.Join(day, "problems.jsonl"))
	r := newRun(t, day, second)
	r.Sources.Bank = filepath.Join(first, "bank.json")
	build(t, r)
	before := bankOf(t, first)
	after := bankOf(t, second)
	withdrawn := map[string]bool{}
	for _, row := range withdrawnOf(t, second).Rows {
		withdrawn[row.TraceID] = true
	}
	early := 0
	late := 0
	for i, p := range old {
		if before.Pool(guard.SpecHash(p)) == guard.PoolTrain {
			if after.Pool(guard.SpecHash(next[i])) == guard.PoolTrain {
				continue
			}
			for _, id := range sessions(t, first, p.ID) {
				late++
				if !withdrawn[id] {
					t.Errorf("%s was trained on, a rewording of %q is protected, and the row is not withdrawn", id, p.Query)
				}
			}
			continue
		}
		early++
		if got := after.Pool(guard.SpecHash(next[i])); got == guard.PoolTrain || got == "" {
			t.Errorf("%q is in %q", next[i].Query, got)
		}
	}
	if early == 0 || late == 0 {
		t.Errorf("%d rewordings of protected problems, %d rows with a protected rewording: nothing is shown", early, late)
	}
}

// rewordDay replaces the requests and products of a problems file. It returns
// the problems before and after.
func rewordDay(t *testing.T, path string) (old, next []arena.Problem) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(`"query": "`, `"query": "Hello there, `, `"product_id": "`, `"product_id": "77`).Replace(string(b))
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return problemsOf(t, string(b)), problemsOf(t, changed)
}

func bankOf(t *testing.T, corpus string) *guard.State {
	t.Helper()
	f, err := os.Open(filepath.Join(corpus, "bank.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := guard.ReadState(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func problemsOf(t *testing.T, text string) []arena.Problem {
	t.Helper()
	problems, err := arena.ReadProblems(strings.NewReader(text), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return problems
}
