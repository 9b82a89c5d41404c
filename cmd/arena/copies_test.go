package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// TestVerdictsOnCopiesIgnoreOrder holds that `arena filter` and the tables of a build have the
// same verdicts for a day with two copies of each attempt, whichever copy is read first.
func TestVerdictsOnCopiesIgnoreOrder(t *testing.T) {
	t.Parallel()
	var before []string
	for _, folder := range []string{"a", "z"} {
		day := dayWithCopies(t, folder)
		out := t.TempDir()
		lines := filepath.Join(out, "lines.jsonl")
		corpusDir := filepath.Join(out, "corpus")
		for _, args := range [][]string{{"filter", day, "-q", "-o", lines}, {"build", day, "-q", "-o", corpusDir}} {
			if output, code := runOutput(args...); code != cli.ExitOK {
				t.Fatalf("arena %v: exit %d: %s", args, code, output)
			}
		}
		filtered := linesOf(t, lines)
		built := verdictsOf(t, corpusDir)
		if diff := cmp.Diff(built, filtered); diff != "" {
			t.Errorf("copies in %s: the table of the build (-) and the lines of the filter (+) differ:\n%s", folder, diff)
		}
		if before != nil {
			if diff := cmp.Diff(before, filtered); diff != "" {
				t.Errorf("verdicts with copies read first (-) and last (+) differ:\n%s", diff)
			}
		}
		before = filtered
	}
}

// dayWithCopies is the committed day with a second copy of every attempt, which
// ends early, in a folder of its own; traces are read by path.
func dayWithCopies(t *testing.T, folder string) string {
	t.Helper()
	day := t.TempDir()
	traces := filepath.Join(day, "traces")
	copies := filepath.Join(traces, folder)
	for _, err := range []error{
		os.CopyFS(day, os.DirFS(testDay)), os.Mkdir(filepath.Join(traces, "m"), 0o755), os.CopyFS(copies, os.DirFS(filepath.Join(testDay, "traces"))),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	runs, err := filepath.Glob(filepath.Join(traces, "run=*"))
	if err != nil || len(runs) == 0 {
		t.Fatalf("no runs in %s, %v", traces, err)
	}
	for _, run := range runs {
		if err := os.Rename(run, filepath.Join(traces, "m", filepath.Base(run))); err != nil {
			t.Fatal(err)
		}
		if err := rewrite(filepath.Join(copies, filepath.Base(run), "output.jsonl.gz"), halved); err != nil {
			t.Fatal(err)
		}
	}
	return day
}

// halved cuts an attempt's dialogue in the middle.
func halved(line string) string {
	record := map[string]any{}
	if json.Unmarshal([]byte(line), &record) != nil {
		return line
	}
	if steps, ok := record["dialogue"].([]any); ok {
		record["dialogue"] = steps[:(len(steps)+1)/2]
	}
	b, err := json.Marshal(record)
	if err != nil {
		panic(err) // it was just read
	}
	return string(b) + "\n"
}

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range bytes.Lines(b) {
		var v struct {
			Run        string   `json:"eval_run_id"`
			Problem    string   `json:"problem_id"`
			Keep       bool     `json:"keep"`
			Axis       string   `json:"axis"`
			Confidence float64  `json:"confidence"`
			Reasons    []string `json:"reasons"`
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(v.Run+"/"+v.Problem, v.Keep, v.Axis, v.Confidence, v.Reasons))
	}
	slices.Sort(out)
	return out
}

func verdictsOf(t *testing.T, dir string) []string {
	t.Helper()
	rows, err := parquet.ReadFile[rows.Verdict](filepath.Join(dir, "tables", "verdicts.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range rows {
		out = append(out, fmt.Sprint(v.TraceID, v.Keep, v.Axis, v.Confidence, v.Reasons))
	}
	slices.Sort(out)
	return out
}
