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

// TestACorpusRoundTripsThroughEveryFormat writes the kept attempts of a corpus as other tools
// keep them, imports that, and finds the same rows under the same sessions.
func TestACorpusRoundTripsThroughEveryFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) {
		t.Helper()
		if output, code := runOutput(args...); code != cli.ExitOK {
			t.Fatalf("%v: exit %d: %s", args, code, output)
		}
	}
	buildTestDay(t, inDir("corpus"))
	want := sftRows(t, inDir("corpus"))
	if len(want) < longtest.Pick(40, 20) {
		t.Fatalf("%d rows", len(want))
	}
	// Away from its corpus a file of Parquet has no bank that protects its eval rows.
	if err := os.CopyFS(inDir("parquet"), os.DirFS(filepath.Join(inDir("corpus"), "data", "sft"))); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"parquet", "inspect", "openai", "atif", "responses", "sts"} {
		if format != "parquet" {
			run("convert", inDir("corpus"), "--to", format, "-o", inDir(format), "-q")
		}
		run("import", inDir(format), "--unguarded", "-o", inDir(format+"-back"), "-q")
		if got := sftRows(t, inDir(format+"-back")); !slices.Equal(got, want) {
			t.Errorf("%s: %d rows of %d, or other ones", format, len(got), len(want))
		}
	}
}

// sftRows returns all rows of SFT as text, in the order of their sessions.
func sftRows(t *testing.T, dir string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "data", "sft", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no rows in %s: %v", dir, err)
	}
	for _, file := range files {
		if err = corpus.ReadRows(corpus.Disk{}, file, func(r *rows.SFT) error {
			lines = append(lines, fmt.Sprintln(r.SessionID, r.ProblemID, r.Goal, r.Reward, r.NSteps, r.NToolCalls, r.Messages, r.Tools))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(lines)
	return lines
}
