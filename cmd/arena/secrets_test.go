package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/trajectory-arena/arena/internal/canary"
)

// secretDay is the sample day with a secret in all that names something: runs,
// agents, problems, kinds of errors, and keys of records that are no traces.
func secretDay(t *testing.T, dir string, secrets []canary.Canary) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "traces", "*", "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	n := 0
	next := func() string { n++; return secrets[n%len(secrets)].Text }
	for _, path := range files {
		var text strings.Builder
		for line := range bytes.Lines(unzipped(t, path)) {
			var x map[string]any
			if err := json.Unmarshal(line, &x); err != nil {
				t.Fatal(err)
			}
			x["problem_id"] = next()
			if x["error"] != nil {
				x["error"] = map[string]any{"type": "Error " + next(), "message": next()}
			}
			text.Write(encodedLine(t, x))
		}
		text.Write(encodedLine(t, map[string]any{next(): 1}))
		put(t, path, []byte(zipped(t, text.String())))
		put(t, filepath.Join(filepath.Dir(path), "run.json"), encodedLine(t, map[string]any{
			"eval_run_id": next(), "agent_version_id": next(), "miner_hotkey": next(), "suite_version": next()}))
	}
}

func encodedLine(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

func unzipped(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err = b.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCanariesAreInNoLineAndNoWord plants secrets of thirty kinds in all that
// names something, and looks for them in the lines, reports and words of every
// command that reads traces. Attempts are as many as they were.
func TestCanariesAreInNoLineAndNoWord(t *testing.T) {
	secrets, dir := canary.All(), t.TempDir()
	day, out := filepath.Join(dir, "day"), filepath.Join(dir, "out")
	secretDay(t, day, secrets)
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(out, name) }
	candidates := filepath.Join(dir, "candidates.jsonl")
	var text bytes.Buffer
	for _, s := range secrets {
		text.Write(encodedLine(t, map[string]any{"id": s.Text, "text": "a lamp of cork, " + s.Text}))
	}
	put(t, candidates, text.Bytes())
	for i, args := range [][]string{
		{"filter", day, "-o", in("filter.jsonl")},
		{"score", day, "-o", in("score.jsonl")},
		{"judge", day, "-o", in("judge.jsonl")},
		{"filter", day, "--explain", secrets[3].Text, "-o", in("explain.txt")},
		{"leak", "--held-out", candidates, candidates, "-o", in("leak.jsonl"), "--report", in("leak.json")},
		{"dedup", candidates, "-o", in("dedup.jsonl")},
		{"import", day, "-o", in("imported"), "--unguarded"},
		{"build", day, "-o", in("built"), "--work", filepath.Join(dir, "work"), "-v"},
		{"--log-format", "json", "convert", day, "--to", "atif", "-o", filepath.Join(dir, "atif.jsonl")},
		{"verify", in("imported")},
		{"inspect", in("imported")},
	} {
		var words bytes.Buffer
		run(t.Context(), args, strings.NewReader(""), &words, &words)
		put(t, in(fmt.Sprintf("words-%d.txt", i)), words.Bytes())
	}
	for _, f := range canary.Find(t, secrets, out) {
		t.Errorf("%s: %s", f.Kind, f.Path)
	}
	for _, name := range []string{"filter.jsonl", "score.jsonl", "judge.jsonl", "leak.jsonl", "dedup.jsonl"} {
		b, err := os.ReadFile(in(name))
		if err != nil {
			t.Error(err)
		}
		for line := range bytes.Lines(b) {
			if !json.Valid(line) {
				t.Errorf("%s: no JSON: %s", name, line)
			}
		}
		if n := bytes.Count(b, []byte("\n")); n < len(secrets) {
			t.Errorf("%s has %d lines", name, n)
		}
	}
}
