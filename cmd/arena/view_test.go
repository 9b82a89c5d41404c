package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/canary"
	"github.com/trajectory-arena/arena/report/attempt"
	"github.com/trajectory-arena/arena/report/site"
)

// pagesOf writes the pages of a corpus over the sample day into memory.
func pagesOf(t *testing.T, dir string, traces, workers int) map[string]string {
	t.Helper()
	l, err := attempt.Read(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{Corpora: []*site.Corpus{{Name: "out", Ledger: l, Days: dayOf(t, l), Clean: cli.WithoutSecrets, Workers: workers}}}
	files := map[string]string{}
	mu := sync.Mutex{}
	err = s.Write(t.Context(), traces, func(name string, b []byte) error {
		mu.Lock()
		defer mu.Unlock()
		files[name] = string(b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// dataOf is the JSON that a script of the pages brings.
func dataOf(t *testing.T, script string, target any) {
	t.Helper()
	_, text, _ := strings.Cut(script, ",")
	if err := json.Unmarshal([]byte(strings.TrimSuffix(text, ");\n")), target); err != nil {
		t.Fatal(err)
	}
}

// TestPagesHoldTheLedger writes the pages of the sample day: the same bytes for any number of
// workers, a file for each kept attempt and for a number of dropped attempts of each reason, and a
// line with the reasons for each of the rest.
func TestPagesHoldTheLedger(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	buildTestDay(t, out)
	files := pagesOf(t, out, 3, 4)
	size := 0
	for name, again := range pagesOf(t, out, 3, 1) {
		if size += len(again); files[name] != again {
			t.Errorf("%s differs with another number of workers", name)
		}
	}
	if size > 5<<20 {
		t.Errorf("%d bytes", size)
	}
	var day struct {
		Rows    int
		Whole   []int
		Columns []struct {
			Name   string
			Values []any
		}
	}
	dataOf(t, files["data/0/day.js"], &day)
	for _, c := range day.Columns {
		if len(c.Values) != day.Rows {
			t.Errorf("%s has %d values of %d", c.Name, len(c.Values), day.Rows)
		}
	}
	l, err := attempt.Read(corpus.Disk{}, out)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]int{}
	counts := map[string]int{}
	for row, line := range l.Lines {
		if line.Attempt.HasDialogue {
			reasons[line.Attempt.Reason]++
		}
		if _, complete := files["data/0/attempt/"+inJSON(row)+".js"]; complete {
			counts[line.Attempt.Reason]++
		}
	}
	for reason, n := range reasons {
		if want := min(n, 3); counts[reason] != want && (reason != "" || counts[reason] != n) {
			t.Errorf("%q: %d of %d attempts have their dialogue", reason, counts[reason], n)
		}
	}
	var arguments map[string]attempt.Argument
	dataOf(t, files["data/0/rest/0.js"], &arguments)
	if len(arguments)+len(day.Whole) != day.Rows {
		t.Errorf("%d attempts with and %d without a dialogue, of %d", len(day.Whole), len(arguments), day.Rows)
	}
}

// TestServedAttemptsAreReadFromTheDay requests each attempt of the sample day, and missing ones.
func TestServedAttemptsAreReadFromTheDay(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	buildTestDay(t, out)
	l, err := attempt.Read(corpus.Disk{}, out)
	if err != nil {
		t.Fatal(err)
	}
	c := &site.Corpus{Name: "out", Ledger: l, Days: dayOf(t, l), Clean: cli.WithoutSecrets}
	c.All = true
	s := &site.Site{Corpora: []*site.Corpus{c}}
	for i, line := range l.Lines {
		b, err := s.File(t.Context(), "data/0/attempt/"+inJSON(i)+".js")
		if err != nil {
			t.Fatal(err)
		}
		var a attempt.Argument
		dataOf(t, string(b), &a)
		isMissing := a.Story == nil && line.Attempt.HasDialogue
		isForeign := a.Story != nil && a.Story.Source != attempt.FromDay
		if isMissing || isForeign {
			t.Errorf("the page of %s has data from another source than the day", line.Attempt.TraceID)
		}
	}
	for _, name := range []string{"", "..", "data/0/attempt/180.js", "data/0/attempt/-1.js", "data/1/day.js", "data/x", "data/0", "data/0/attempt/../day.js", "assets/index.html"} {
		if b, err := s.File(t.Context(), name); err == nil {
			t.Errorf("%q has %d bytes", name, len(b))
		}
	}
}

// TestHostileTracesAreData renders attempts whose texts are markup, scripts or the end of one: no
// script of the pages holds any of them unescaped.
func TestHostileTracesAreData(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	out := filepath.Join(t.TempDir(), "out")
	if err := os.CopyFS(day, os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	nasty := []string{`</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, "\u2028alert(1)//", "\u202eevil", `<!--<script>`, `]]>`, "a\x00b", `javascript:alert(1)`, `");alert(1);("`, `${alert(1)}`}
	var lines bytes.Buffer
	for i := range 60 {
		think, _ := json.Marshal(nasty[i%len(nasty)])
		id, _ := json.Marshal(nasty[i%len(nasty)] + inJSON(i))
		lines.WriteString(`{"eval_run_id": ` + string(id) + `, "problem_id": "p", "status": "SUCCESS", "dialogue": [{"completion": {"message": {"think": ` + string(think) +
			`, "tool_call": [{"name": ` + string(think) + `, "parameters": {"q": ` + string(think) + `}}]}}}]}` + "\n")
	}
	folder := filepath.Join(day, "traces", "run=nasty")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "output.jsonl"), lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, cli.ExitOK, "build", day, "-o", out, "-q")
	must(t, cli.ExitOK, "view", out, "-o", out+".site", "--traces", "100")
	mentions := 0
	err := filepath.WalkDir(filepath.Join(out+".site", "data"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.ContainsAny(b, "<>\x00\u2028\u2029") || bytes.Count(b, []byte("\n")) != 1 {
			t.Errorf("%s holds markup", path)
		}
		mentions += bytes.Count(b, []byte(`onerror=alert(1)`))
		return err
	})
	if err != nil || mentions < 6 {
		t.Errorf("%d of 6 images are mentioned, %v", mentions, err)
	}
}

// TestCanariesReachNoRunPage writes secrets of two hundred kinds into the results, the
// conversations and the telemetry of a run: its pages hold none. A truncated log is an error, and a
// missing rollout has no page.
func TestCanariesReachNoRunPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pages := t.TempDir()
	secrets := canary.All()
	var results, moments bytes.Buffer
	var talks []any
	for _, c := range secrets {
		results.WriteString(inJSON(map[string]any{"problem_id": "p " + c.Text, "label": c.Text}) + "\n")
		moments.WriteString(inJSON(map[string]any{"seconds": 1, "server": c.Text}) + "\n")
		talks = append(talks, map[string]any{"role": "tool", "content": "I noted " + c.Text})
	}
	var log bytes.Buffer
	z := zip.NewWriter(&log)
	for _, entry := range [][2]string{{"_journal/start.json", "{}"}, {"samples/a.json", inJSON(map[string]any{"id": "a", "messages": talks})}} {
		w, err := z.Create(entry[0])
		if _, failed := io.WriteString(w, entry[1]); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"spec.json": `{"model": "m"}`, "summary.json": "{}", "telemetry.json": inJSON(secrets[0].Text), "results.jsonl": results.String(), "telemetry.jsonl": moments.String() + `{"seconds": 1`, "inspect.eval": log.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &site.Site{Runs: []*site.Run{{Name: "run", Dir: dir, Clean: cli.WithoutSecrets}}}
	for _, name := range []string{"run.js", "talk/0.js"} {
		b, err := s.File(t.Context(), "data/r0/"+name)
		if err != nil || len(b) < 1000 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
		if err := os.WriteFile(filepath.Join(pages, filepath.Base(name)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range canary.Find(t, secrets, pages) {
		t.Errorf("%s: %s", f.Kind, f.Path)
	}
	if err := os.WriteFile(filepath.Join(dir, "inspect.eval"), log.Bytes()[:log.Len()/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"data/r0/talk/0.js", "data/r0/talk/7.js", "data/r0/talk/-1.js", "data/r1/run.js", "data/r0/x.js"} {
		if b, err := s.File(t.Context(), name); err == nil {
			t.Errorf("%s has %d bytes", name, len(b))
		}
	}
}

func inJSON(v any) string { b, _ := json.Marshal(v); return string(b) }
