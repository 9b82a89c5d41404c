package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestACorpusComesBackFromEveryFormat writes the kept attempts of a corpus as other tools
// keep them, imports that, and finds the same rows under the same sessions.
func TestACorpusComesBackFromEveryFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) {
		t.Helper()
		if said, code := says(args...); code != cli.ExitOK {
			t.Fatalf("%v: exit %d: %s", args, code, said)
		}
	}
	buildTestDay(t, in("corpus"))
	want := sftRows(t, in("corpus"))
	if len(want) < longtest.Pick(40, 20) {
		t.Fatalf("%d rows", len(want))
	}
	// Away from its corpus a file of Parquet has no bank that protects its eval rows.
	if err := os.CopyFS(in("parquet"), os.DirFS(filepath.Join(in("corpus"), "data", "sft"))); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"parquet", "inspect", "openai", "atif", "responses", "sts"} {
		if format != "parquet" {
			run("convert", in("corpus"), "--to", format, "-o", in(format), "-q")
		}
		run("import", in(format), "--unguarded", "-o", in(format+"-back"), "-q")
		if got := sftRows(t, in(format+"-back")); !slices.Equal(got, want) {
			t.Errorf("%s: %d rows of %d, or other ones", format, len(got), len(want))
		}
	}
}

// sftRows are all rows of SFT in words, in the order of their sessions.
func sftRows(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "data", "sft", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no rows in %s: %v", dir, err)
	}
	for _, file := range files {
		if err = corpus.ReadRows(corpus.Disk{}, file, func(r *rows.SFT) error {
			all = append(all, fmt.Sprintln(r.SessionID, r.ProblemID, r.Goal, r.Reward, r.NSteps, r.NToolCalls, r.Messages, r.Tools))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(all)
	return all
}
