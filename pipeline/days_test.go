package pipeline_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// TestDaysAddedInTurn adds the sample day's attempts and half of its problems in turn, thirty times
// in a long test, each version with the bank of the one before. The last version has the rows and
// tables of one build.
func TestDaysAddedInTurn(t *testing.T) {
	t.Parallel()
	turns := longtest.Pick(30, 3)
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	files := piecesOf(t, turns)
	day := inDir("day")
	if err := os.MkdirAll(day, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(day, "catalog.jsonl"), readFile(t, filepath.Join(sampleDay, "catalog.jsonl")))
	problems := strings.SplitAfter(readFile(t, filepath.Join(sampleDay, "problems.jsonl")), "\n")
	versions := 0
	trains := []string{}
	for i, text := range files {
		known := len(problems) / 2 // the others are added day by day
		known += (len(problems) - known) * (i + 1) / turns
		writeFile(t, filepath.Join(day, "problems.jsonl"), strings.Join(problems[:known], ""))
		writeFile(t, filepath.Join(day, fmt.Sprintf("%02d.jsonl", i)), text)
		r := wide(newRun(t, day, inDir("turns")))
		if versions > 0 {
			r.Sources.Bank = inDir("turns/bank.json")
		}
		if _, err := r.Build(t.Context()); err == nil {
			versions++
			trains = append(trains, sessions(t, inDir("turns"))...)
		} else if !errors.Is(err, choose.ErrEmpty) {
			t.Fatal(err)
		}
	}
	if versions < 2 {
		t.Fatalf("%d versions: nothing is shown", versions)
	}
	build(t, wide(newRun(t, day, inDir("once"))))
	sameFiles(t, "in turn", content(sums(t, inDir("turns"))), content(sums(t, inDir("once"))))
	w := withdrawnOf(t, inDir("turns"))
	if len(w.Versions) != versions-1 {
		t.Errorf("%d versions, want %d", len(w.Versions), versions-1)
	}
	for _, row := range w.Rows { // a new problem is a twin of a protected one
		if !slices.Contains(trains, row.TraceID) {
			t.Errorf("%s is withdrawn, and no version trains on it", row.TraceID)
		}
		if slices.Contains(sessions(t, inDir("turns")), row.TraceID) {
			t.Errorf("%s is withdrawn, and trained on", row.TraceID)
		}
	}
}

// wide returns the run with shares that leave no protected pool empty on the first day. Otherwise
// the first day would fill it with problems that a later day adds.
func wide(r *pipeline.Run) *pipeline.Run {
	r.Config.Guard.Shares = guard.Shares{Eval: 0.3, NeverTouch: 0.25}
	return r
}

// piecesOf returns the lines of the sample day, split into n texts.
func piecesOf(t *testing.T, n int) []string {
	t.Helper()
	var lines []string
	paths, err := filepath.Glob(filepath.Join(sampleDay, "traces", "*", "output.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		lines = append(lines, strings.Split(strings.TrimSuffix(string(inflate(t, path)), "\n"), "\n")...)
	}
	pieces := make([]string, n)
	for i, line := range lines {
		pieces[i*n/len(lines)] += line + "\n"
	}
	return pieces
}

// content are the files that hold rows.
func content(files map[string]string) map[string]string {
	maps.DeleteFunc(files, func(path, _ string) bool { return !strings.HasSuffix(path, ".parquet") })
	return files
}

func withdrawnOf(t *testing.T, dir string) *finish.Withdrawn {
	t.Helper()
	w := &finish.Withdrawn{}
	if err := corpus.ReadJSON(corpus.Disk{}, filepath.Join(dir, "reports", finish.WithdrawnName), 1<<20, w); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWithdrawnRowsLeaveTombstones checks that a later version names every attempt that an earlier
// one trains on and that is protected now, with each version that contains it.
func TestWithdrawnRowsLeaveTombstones(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	builtSample(t, inDir("first"))
	want := sessions(t, inDir("first"), doorMat, twin)
	if len(want) == 0 {
		t.Fatal("the first version trains on nothing of the problem: nothing is shown")
	}
	writeFile(t, inDir("held.jsonl"), fmt.Sprintf("{\"id\":\"mat\",\"query\":%q}\n", queryOf(t, doorMat)))
	spoilt := []string{manifestOf(t, inDir("first"))}
	second := newRun(t, sampleDay, inDir("second"))
	second.Sources.Bank = inDir("first/bank.json")
	second.Sources.HeldOut = []string{inDir("held.jsonl")}
	build(t, second)
	third := newRun(t, sampleDay, inDir("third"))
	third.Sources.Bank = inDir("second/bank.json")
	build(t, third)
	for _, name := range []string{"second", "third"} {
		w := withdrawnOf(t, inDir(name))
		var got []string
		for _, row := range w.Rows {
			got = append(got, row.TraceID)
			if !slices.Equal(row.Spoilt, spoilt) {
				t.Errorf("%s: %s spoilt %q, want %q", name, row.TraceID, row.Spoilt, spoilt)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s withdraws %q, want %q", name, got, want)
		}
		if leftovers := sessions(t, inDir(name), doorMat, twin); len(leftovers) > 0 {
			t.Errorf("%s trains on %q", name, leftovers)
		}
	}
	m, err := corpus.ReadManifest(corpus.Disk{}, inDir("third"))
	if err != nil {
		t.Fatal(err)
	}
	parent := manifestOf(t, inDir("second"))
	if !slices.ContainsFunc(m.Inputs, func(i corpus.Input) bool { return i.Kind == corpus.InputParent && i.SHA256 == parent }) {
		t.Errorf("the manifest names no parent %s", parent)
	}
}

func manifestOf(t *testing.T, dir string) string {
	t.Helper()
	s, err := finish.Open(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	return s.SHA256
}

// sessions are the attempts at problems, at all where none is named, that a corpus
// trains on, each once.
func sessions(t *testing.T, dir string, problems ...string) []string {
	t.Helper()
	s, err := finish.Open(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	add := func(origin *rows.Origin, id string) {
		if len(problems) == 0 || slices.Contains(problems, origin.ProblemID) {
			out = append(out, id)
		}
	}
	err = finish.Rows(s, corpus.ProfileHFJSON, corpus.SplitTrain, func(r *rows.SFT) error { add(&r.Origin, r.SessionID); return nil })
	if err != nil {
		t.Fatal(err)
	}
	err = finish.Rows(s, corpus.ProfileKTO, corpus.SplitTrain, func(r *rows.KTO) error { add(&r.Origin, r.SessionID); return nil })
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
