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

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/canary"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/pipeline/reports"
	"github.com/trajectory-arena/arena/report"
)

// secretDay writes the sample day with a secret in every name: of runs, agents, problems, kinds of
// errors, and keys of records that are no traces.
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

// TestCanariesAreInNoLineAndNoWord plants secrets of more than two hundred kinds (without the tag
// long, of every fourth kind) in the names of a day, and searches the lines, reports and messages
// of the commands that read traces. No attempt is missing from the lines.
func TestCanariesAreInNoLineAndNoWord(t *testing.T) {
	secrets := canary.Sample()
	dir := t.TempDir()
	day := filepath.Join(dir, "day")
	out := filepath.Join(dir, "out")
	secretDay(t, day, secrets)
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	inOut := func(name string) string { return filepath.Join(out, name) }
	candidates := filepath.Join(dir, "candidates.jsonl")
	var text bytes.Buffer
	for _, s := range secrets {
		text.Write(encodedLine(t, map[string]any{"id": s.Text, "text": "a lamp of cork, " + s.Text}))
	}
	put(t, candidates, text.Bytes())
	for i, args := range [][]string{
		{"filter", day, "-o", inOut("filter.jsonl")},
		{"score", day, "-o", inOut("score.jsonl")},
		{"judge", day, "-o", inOut("judge.jsonl")},
		{"filter", day, "--explain", secrets[3].Text, "-o", inOut("explain.txt")},
		{"leak", "--held-out", candidates, candidates, "-o", inOut("leak.jsonl"), "--report", inOut("leak.json")},
		{"dedup", candidates, "-o", inOut("dedup.jsonl")},
		{"import", day, "-o", inOut("imported"), "--unguarded", "--work", filepath.Join(dir, "work")},
		{"build", day, "-o", inOut("built"), "--work", filepath.Join(dir, "work"), "-v"},
		{"--log-format", "json", "convert", day, "--to", "atif", "-o", filepath.Join(dir, "atif.jsonl")},
		{"verify", inOut("imported")},
		{"inspect", inOut("imported")},
	} {
		var words bytes.Buffer
		run(t.Context(), args, strings.NewReader(""), &words, &words)
		put(t, inOut(fmt.Sprintf("words-%d.txt", i)), words.Bytes())
	}
	for _, f := range canary.Find(t, secrets, out) {
		t.Errorf("%s: %s", f.Kind, f.Path)
	}
	attempts := longtest.Pick(180, 72)
	for name, minLines := range map[string]int{"filter.jsonl": attempts, "score.jsonl": attempts, "judge.jsonl": attempts, "leak.jsonl": len(secrets), "dedup.jsonl": len(secrets)} {
		b, err := os.ReadFile(inOut(name))
		if err != nil {
			t.Error(err)
		}
		for line := range bytes.Lines(b) {
			if !json.Valid(line) {
				t.Errorf("%s: no JSON: %s", name, line)
			}
		}
		if n := bytes.Count(b, []byte("\n")); n < minLines {
			t.Errorf("%s has %d lines", name, n)
		}
	}
}

// everywhere returns a trajectory of OpenAI messages with a secret in every place for a text.
func everywhere(t *testing.T, i int, secret string) []byte {
	t.Helper()
	arguments, err := json.Marshal(map[string]any{"q": "lamp " + secret, "note": []string{secret}})
	if err != nil {
		t.Fatal(err)
	}
	return encodedLine(t, map[string]any{
		"id": fmt.Sprintf("t-%d %s", i, secret), "agent": "agent " + secret, "source": "miner " + secret, "reward": 1,
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "find", "description": "finds, with " + secret,
			"parameters": map[string]any{"type": "object", "properties": map[string]any{"q": map[string]any{"type": "string", "description": secret}}}}}},
		"messages": []any{
			map[string]any{"role": "system", "content": "You shop. " + secret},
			map[string]any{"role": "user", "content": fmt.Sprintf("Find a lamp of cork, the %dth. %s", i, secret)},
			map[string]any{"role": "assistant", "reasoning_content": "I noted " + secret, "content": "Looking: " + secret,
				"tool_calls": []any{map[string]any{"id": "c " + secret, "type": "function", "function": map[string]any{"name": "find", "arguments": string(arguments)}}}},
			map[string]any{"role": "tool", "tool_call_id": "c " + secret, "content": `[{"product_id":"1","title":"Cork lamp ` + strings.Trim(string(encodedLine(t, secret)), "\"\n") + `"}]`},
			map[string]any{"role": "assistant", "content": "It is the cork lamp. " + secret},
		},
	})
}

// TestCanariesInEveryPlaceOfATrajectory plants secrets in prompts, thoughts, arguments, results,
// descriptions of tools, and names of agents and files. It passes them through import, mix, every
// profile of an export, a recipe and publish.
func TestCanariesInEveryPlaceOfATrajectory(t *testing.T) {
	secrets := canary.Sample()
	dir := t.TempDir()
	traces := filepath.Join(dir, "traces")
	out := filepath.Join(dir, "out")
	for _, d := range []string{traces, out} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range secrets {
		name := strings.NewReplacer("/", "_", "\n", " ", `\`, "_").Replace(s.Text)
		put(t, filepath.Join(traces, fmt.Sprintf("%03d %.120s.jsonl", i, name)), everywhere(t, i, s.Text))
	}
	inOut := func(name string) string { return filepath.Join(out, name) }
	buildTestDay(t, inOut("built"))
	for i, args := range [][]string{
		{"import", traces, "--unguarded", "-o", inOut("imported"), "--work", t.TempDir()},
		{"mix", inOut("built") + ":1", inOut("imported") + ":1", "-o", inOut("mixed")},
		{"export", inOut("imported"), "--profile", "all", "-o", inOut("exported")},
		{"verify", inOut("imported")},
		{"verify", inOut("mixed")},
		{"recipe", "sft", "--corpus", inOut("mixed"), "-o", inOut("stage")},
		{"publish", inOut("mixed"), "-o", inOut("public"), "--license", "cc-by-4.0"},
		{"verify", inOut("public")},
	} {
		var words bytes.Buffer
		code := run(t.Context(), args, strings.NewReader(""), &words, &words)
		if put(t, inOut(fmt.Sprintf("words-%d.txt", i)), words.Bytes()); code != 0 {
			t.Errorf("%v ends with %d: %.2000s", args, code, words.String())
		}
	}
	remaining := map[string]int{}
	for _, f := range canary.Find(t, secrets, out) {
		if remaining[f.Path]++; remaining[f.Path] < 4 {
			t.Errorf("%s: %s", f.Kind, f.Path)
		}
	}
}

// TestCanariesReachNoPage writes secrets of two hundred kinds into all texts that a page takes from
// traces and banks, and renders the pages of a corpus with them.
func TestCanariesReachNoPage(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{})
	secrets := canary.All()
	for i, c := range secrets {
		set := &reports.Set{Funnel: []corpus.Stage{{Name: "read", In: 2, Out: 1, Failures: map[string]int64{c.Text: 1}}}}
		set.Agents.Agents = []reports.AgentShare{{Agent: c.Text, Attempts: 1, Kept: 1}}
		set.Judges.Judge = "gates " + c.Text
		set.Leak.Guard = &guard.Report{Injection: &guard.InjectionReport{}, Dropped: []guard.DroppedRow{{ID: "run " + c.Text, HeldOut: c.Text, Tier: guard.TierSpec, Evidence: "the text says " + c.Text}}}
		files := report.Plots(set.Charts())
		dir := t.TempDir()
		for name, page := range files {
			put(t, filepath.Join(dir, name), []byte(r.Text(string(page), redact.Counts{})))
		}
		for _, f := range canary.Find(t, secrets[i:i+1], dir) {
			t.Errorf("%s: %s", f.Kind, f.Path)
		}
	}
}
