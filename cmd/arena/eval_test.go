package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/script"
	"github.com/trajectory-arena/arena/report/site"
)

// arenaRun runs the program as a user would.
func arenaRun(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &out, &err)
	if twice := saidTwice(err.String()); twice != "" {
		panic(fmt.Sprintf("arena %q says %q twice: %s", args, twice, err.String()))
	}
	return code, out.String(), err.String()
}

// saidTwice returns the first part of an error message that repeats the part before it, as in "read
// problems FILE: read problems: line 3". It returns "" if no part is repeated.
func saidTwice(stderr string) string {
	for line := range strings.Lines(stderr) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), "error: ")
		parts := strings.Split(line, ": ")
		for i := 1; i < len(parts); i++ {
			isLess := strings.HasPrefix(parts[i-1]+" ", parts[i]+" ")
			isMore := strings.HasPrefix(parts[i]+" ", parts[i-1]+" ")
			isLess = isLess && strings.Contains(parts[i], " ")
			isMore = isMore && strings.Contains(parts[i-1], " ")
			if isLess || isMore {
				return parts[i]
			}
		}
	}
	return ""
}

// TestRepeatedPartFindsRepeatedWords holds the check of every command in these tests to examples.
func TestRepeatedPartFindsRepeatedWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"arena: error: read problems p.jsonl: read problems: line 2: parse": "read problems",
		"arena: error: read ratings: read ratings a.jsonl: line 2":          "read ratings a.jsonl",
		"arena: error: read problems p.jsonl: line 2: parse problem":        "",
		"arena: error: day: day: no such file":                              "",
	} {
		if got := saidTwice(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// evalInputs writes a catalogue of two products and a file of problems whose queries ask for the
// first product.
func evalInputs(t *testing.T, queries ...string) (catalog, problems string) {
	t.Helper()
	dir := t.TempDir()
	catalog = filepath.Join(dir, "catalog.jsonl")
	problems = filepath.Join(dir, "problems.jsonl")
	var c, p strings.Builder
	for i, title := range []string{"Blue desk lamp", "Red desk lamp"} {
		fmt.Fprintf(&c, `{"product_id":"70%d","shop_id":"5","title":%q,"price":%d,"service":[],"sold_count":1,"short_description":"","description":"","attributes":{},"sku_options":{}}`+"\n", i, title, 10+i)
	}
	for i, q := range queries {
		fmt.Fprintf(&p, `{"problem_id":"p%d","query":%q,"category":"Product","reward":{"product_id":"700","title":["Blue desk lamp"]}}`+"\n", i, q)
	}
	for path, text := range map[string]string{catalog: c.String(), problems: p.String()} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return catalog, problems
}

func scripted(t *testing.T, solves func(query string, seed int64) bool) string {
	t.Helper()
	call := func(name, arguments string) script.Act {
		return script.Act{Content: "<think>Next.</think>", Calls: []script.Call{{Name: name, Arguments: arguments}}}
	}
	web := httptest.NewServer(&script.Server{Dialect: "hermes", Plan: func(q string, seed int64) script.Plan {
		id := "701"
		if solves(q, seed) {
			id = "700"
		}
		if strings.HasPrefix(q, "broken") {
			return script.Plan{{Fault: script.Reply(500, "fault")}}
		}
		return script.Plan{call("find_product", `{"q":"lamp"}`), call("recommend_product", `{"product_ids":"`+id+`"}`), call("terminate", "{}")}
	}})
	t.Cleanup(web.Close)
	return web.URL + "/v1"
}

func TestEvalCommand(t *testing.T) {
	t.Parallel()
	catalog, problems := evalInputs(t, "one", "two", "three", "broken four")
	url := scripted(t, func(q string, seed int64) bool { return q != "three" && seed == 5 })
	run := filepath.Join(t.TempDir(), "run")
	args := []string{"eval", "--endpoint", url, "--model", "m", "--problems", problems, "--catalog", catalog, "-k", "2", "--seed", "5", "--retries", "1", "-o", run,
		"--temperature", "0", "--top-p", "1", "--max-tokens", "9", "--chat-template-kwargs", `{"enable_thinking": false}`}
	code, out, words := arenaRun(args...)
	if code != cli.ExitLimit || out != "" || !strings.Contains(words, "only 6 of 8 rollouts were scored") || !strings.Contains(words, "--retry-infra") {
		t.Fatalf("exit %d, stdout %q, stderr %s", code, out, words)
	}
	code, _, words = arenaRun(append(args, "--retry-infra")...)
	if account, err := os.ReadFile(filepath.Join(run, "telemetry.json")); code != cli.ExitLimit || err != nil || !strings.Contains(string(account), `"rollouts": 2,`) {
		t.Errorf("asked again for two: exit %d: %s\n%s", code, words, account)
	}
	if code, _, words = arenaRun(append(args, "--min-coverage", "0.5")...); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, words)
	}
	var s map[string]any
	b, err := os.ReadFile(filepath.Join(run, "summary.json"))
	if err != nil || json.Unmarshal(b, &s) != nil {
		t.Fatalf("summary %s, %v", b, err)
	}
	for key, want := range map[string]any{
		"problems": 4.0, "samples": 8.0, "scored": 6.0, "infra_errors": 2.0, "coverage": 0.75, "successes": 2.0, "asr_all": 0.25,
		"stops": map[string]any{"terminated": 6.0, "infra": 2.0}, "labels": map[string]any{"wrong_product": 4.0},
	} {
		if fmt.Sprint(s[key]) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", key, s[key], want)
		}
	}
	for name, mean := range map[string]float64{"pass@1": 1.0 / 3, "pass@2": 2.0 / 3} {
		pass, _ := s[name].(map[string]any)
		if pass["mean"] != mean || pass["problems"] != 3.0 || pass["se_clustered"] == nil || pass["ci95"] == nil {
			t.Errorf("%s is %v", name, pass)
		}
	}
	lines := strings.Split(strings.TrimSpace(words), "\n")
	if !strings.HasPrefix(lines[0], "success rate  0.3333 (95 %: ") || lines[len(lines)-1] != "log           inspect view --log-dir "+run || lines[len(lines)-2] != "pages         arena view "+run {
		t.Errorf("the words are %s", words)
	}
	page := runPage(t, run)
	if !strings.Contains(page, `"infra":"http_500"`) {
		t.Errorf("the run's page: %s", page)
	}
	if code, out, words = arenaRun("results", run, "-o", "-"); code != cli.ExitOK || strings.Count(out, "\n") != 8 {
		t.Errorf("results: exit %d, %d lines: %s", code, strings.Count(out, "\n"), words)
	}
	if code, _, words = arenaRun(append(args, "--model", "other")...); code != cli.ExitUsage || !strings.Contains(words, `model: "m", "other"`) {
		t.Errorf("another model in the same folder: exit %d: %s", code, words)
	}
	if code, _, words = arenaRun("eval", "--rescore", run, "--problems", problems, "--catalog", catalog, "-q", "--min-coverage", "0"); code != cli.ExitOK {
		t.Errorf("rescore: exit %d: %s", code, words)
	}
	if again, err := os.ReadFile(filepath.Join(run, "summary.json")); err != nil || !bytes.Equal(again, b) {
		t.Errorf("rescore changed the summary: %v\n%s", err, again)
	}
	if again := runPage(t, run); again != page {
		t.Errorf("rescore changed the page: %s", again)
	}
	if !strings.Contains(page, `"problems":[{"problem_id":"p0","query":"one","reward":{"product_id":"700"`) {
		t.Errorf("the page lacks requests and wanted products: %s", page)
	}

	other := filepath.Join(t.TempDir(), "other")
	rescore := []string{"eval", "--rescore", run, "--problems", problems, "--catalog", catalog, "-q", "--min-coverage", "0", "--judge", "none", "-o", other}
	if code, _, words = arenaRun(rescore...); code != cli.ExitOK {
		t.Errorf("rescore into another folder: exit %d: %s", code, words)
	}
	if again, err := os.ReadFile(filepath.Join(run, "summary.json")); err != nil || !bytes.Equal(again, b) {
		t.Errorf("rescore into another folder changed the run: %v", err)
	}
	if summary, err := os.ReadFile(filepath.Join(other, "summary.json")); err != nil || bytes.Equal(summary, b) || !strings.Contains(string(summary), `"judged": 0,`) {
		t.Errorf("the other folder: %v %s", err, summary)
	}
	if code, _, words = arenaRun("eval", "--rescore", run, "--problems", problems, "--catalog", catalog, "-o", filepath.Dir(run)); code == cli.ExitOK || !strings.Contains(words, "is not empty") {
		t.Errorf("rescore into a folder with files: exit %d: %s", code, words)
	}
}

// runPage returns the data of a run's page without the fields that depend on its server and its
// clock.
func runPage(t *testing.T, run string) string {
	t.Helper()
	s := &site.Site{Runs: []*site.Run{{Name: "run", Dir: run, Clean: cli.WithoutSecrets}}}
	b, err := s.File(t.Context(), "data/r0/run.js")
	if err != nil {
		t.Fatal(err)
	}
	page, _, _ := strings.Cut(string(b), `"telemetry":`)
	return page
}

func TestCompareCommand(t *testing.T) {
	t.Parallel()
	catalog, problems := evalInputs(t, "one", "two", "three", "four")
	dir := t.TempDir()
	for name, solved := range map[string]string{"a": "one", "b": "one two four"} {
		url := scripted(t, func(q string, _ int64) bool { return strings.Contains(solved, q) })
		if code, _, words := arenaRun("eval", "--endpoint", url, "--model", name, "--problems", problems, "--catalog", catalog, "-q", "-o", filepath.Join(dir, name)); code != cli.ExitOK {
			t.Fatalf("exit %d: %s", code, words)
		}
	}
	code, out, words := arenaRun("compare", filepath.Join(dir, "a"), filepath.Join(dir, "b"), "--json")
	var c map[string]any
	if code != cli.ExitOK || json.Unmarshal([]byte(out), &c) != nil {
		t.Fatalf("exit %d, %s %s", code, out, words)
	}
	if c["a_mean"] != 0.25 || c["b_mean"] != 0.75 || c["difference"] != 0.5 || fmt.Sprint(c["mcnemar"]) != "map[b:0 c:2 p:0.5]" || fmt.Sprint(c["won"]) != "[map[a_rate:0 b_rate:1 category:Product problem_id:p1] map[a_rate:0 b_rate:1 category:Product problem_id:p3]]" {
		t.Errorf("%v", c)
	}
	leak := filepath.Join(dir, "leak.jsonl")
	for _, other := range []string{"problem,answer\np77,1\n", `{"id":"row","match":"p99","drop":true,"problems":["p99"]}`, `{"id":"row","match":null,"drop":false}`} {
		if err := os.WriteFile(leak, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, words = arenaRun("compare", filepath.Join(dir, "a"), filepath.Join(dir, "b"), "--trained-on", leak)
		if code != cli.ExitUsage || out != "" || !strings.Contains(words, "none of the 4 evaluated ones is among them") {
			t.Errorf("a list of other problems is no evidence: exit %d: %s%s", code, out, words)
		}
		code, _, words = arenaRun("eval", "--endpoint", "http://127.0.0.1:1", "--model", "m", "--problems", problems, "--catalog", catalog, "--trained-on", leak, "-o", filepath.Join(dir, "none"))
		if code != cli.ExitUsage || !strings.Contains(words, "none of the 4 evaluated ones is among them") {
			t.Errorf("eval: exit %d: %s", code, words)
		}
	}
	lines := `{"id":"row1","match":"p3","drop":true,"problems":["p3","p1"]}` + "\n" + `{"id":"row2","match":"p0","drop":false}` + "\n" + `{"id":"row3","match":null,"drop":false}` + "\n"
	if err := os.WriteFile(leak, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, words = arenaRun("compare", filepath.Join(dir, "a"), filepath.Join(dir, "b"), "--trained-on", leak)
	if code != cli.ExitOK || !strings.Contains(out, "b 0.5000; no problem of 2 differs") || !strings.Contains(out, "b 1.0000; difference +1.0000 on 2 problems") {
		t.Errorf("exit %d: %s%s", code, out, words)
	}
	code, out, words = arenaRun("results", filepath.Join(dir, "b"), "--by-problem", "-o", "-")
	if code != cli.ExitOK || strings.Count(out, "\n") != 4 || !strings.Contains(out, `{"problem_id":"p2","category":"Product","samples":1,"scored":1,"successes":0,"rate":0,`) {
		t.Errorf("exit %d: %s%s", code, out, words)
	}
	for _, name := range []string{"a2", "b2"} {
		model := name[:1]
		url := scripted(t, func(q string, _ int64) bool { return q == "three" })
		if code, _, words = arenaRun("eval", "--endpoint", url, "--model", model, "--problems", problems, "--catalog", catalog, "--seed", "1", "-q", "-o", filepath.Join(dir, name)); code != cli.ExitOK {
			t.Fatalf("exit %d: %s", code, words)
		}
	}
	pooled := func(a, b string) string { return filepath.Join(dir, a) + "," + filepath.Join(dir, b) }
	code, out, words = arenaRun("compare", pooled("a", "a2"), pooled("b", "b2"), "--json")
	if code != cli.ExitOK || json.Unmarshal([]byte(out), &c) != nil || c["a_mean"] != 0.25 || c["b_mean"] != 0.5 || c["mcnemar"] != nil {
		t.Errorf("pooled: exit %d, %s %s", code, out, words)
	}
	code, out, words = arenaRun("compare", filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "a"), "--series")
	if code != cli.ExitOK || strings.Count(out, "against") != 2 || !strings.HasPrefix(out, "  1 |") || strings.Count(out, "|\n") != 0 || !strings.Contains(out, "best of 3: ") {
		t.Errorf("series: exit %d, %s %s", code, out, words)
	}
	code, out, _ = arenaRun("results", filepath.Join(dir, "b2"), filepath.Join(dir, "b"), "-o", "-")
	if code != cli.ExitOK || !strings.HasPrefix(out, `{"problem_id":"p0","sample":0,"outcome":"scored","success":true`) || strings.Count(out, `"sample":1`) != 4 {
		t.Errorf("results of two runs: exit %d: %s", code, out)
	}
	if code, _, words = arenaRun("results", filepath.Join(dir, "a"), filepath.Join(dir, "a"), "-o", "-"); code != cli.ExitUsage || !strings.Contains(words, "samples of the same seeds") {
		t.Errorf("the same seeds: exit %d: %s", code, words)
	}
	if code, _, words = arenaRun("compare", filepath.Join(dir, "a")); code != cli.ExitUsage || !strings.Contains(words, "2 arguments or more") {
		t.Errorf("one run: exit %d: %s", code, words)
	}
}

// TestEvalWithoutItsSearchServer checks that a rollout whose search server sends no complete answer
// is not scored: the summary counts it under the reason.
func TestEvalWithoutItsSearchServer(t *testing.T) {
	t.Parallel()
	catalog, problems := evalInputs(t, "one", "two")
	url := scripted(t, func(string, int64) bool { return true })
	answers := func(status, size int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(size))
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // the client may have disconnected
		})
	}
	for _, c := range []struct {
		search http.Handler
		want   string
	}{
		{answers(http.StatusServiceUnavailable, 4, "busy"), `"search_http_503":2`},
		{answers(http.StatusOK, 13, "<html>gateway"), `"search_unreachable":2`},
		{answers(http.StatusOK, 100, `[{"product_id": "1`), `"search_unreachable":2`},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel() // each case waits for seconds before it retries
			server := httptest.NewServer(c.search)
			defer server.Close()
			run := filepath.Join(t.TempDir(), "run")
			code, _, words := arenaRun("eval", "--endpoint", url, "--model", "m", "--problems", problems, "--catalog", catalog, "--search", server.URL, "-q", "-o", run)
			if code != cli.ExitLimit {
				t.Errorf("%s: exit %d: %s", c.want, code, words)
			}
			b, err := os.ReadFile(filepath.Join(run, "summary.json"))
			if err != nil || !strings.Contains(strings.Join(strings.Fields(string(b)), ""), c.want) {
				t.Errorf("%s is not in %s, %v", c.want, b, err)
			}
		})
	}
	server := httptest.NewServer(answers(http.StatusNotFound, 4, "what"))
	defer server.Close()
	run := filepath.Join(t.TempDir(), "run")
	code, _, words := arenaRun("eval", "--endpoint", url, "--model", "m", "--problems", problems, "--catalog", catalog, "--search", server.URL, "-q", "-o", run)
	if _, err := os.Stat(run); err == nil || code != cli.ExitUsage || !strings.Contains(words, "status 404") {
		t.Errorf("another server: exit %d, %s", code, words)
	}
	calls := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(calls, []byte(`{"id":"1","tool":"find_product","arguments":{"q":"lamp"}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, words := arenaRun("shop", "call", calls, "--remote", "http://127.0.0.1:1", "-o", "-"); code != cli.ExitFailure || out != "" || !strings.Contains(words, "did not answer: /find_product") {
		t.Errorf("shop call: exit %d, %q, %s", code, out, words)
	}
}

func TestEvalRefusesWrongFlags(t *testing.T) {
	t.Parallel()
	catalog, problems := evalInputs(t, "one")
	base := []string{"eval", "--model", "m", "--problems", problems, "--catalog", catalog}
	run := filepath.Join(t.TempDir(), "run")
	server := []string{"--endpoint", "http://127.0.0.1:1/v1", "-o", run}
	with := func(more ...string) []string { return slices.Concat(server, more) }
	for name, more := range map[string][]string{
		"no endpoint": {"-o", run}, "no folder": server[:2], "bad endpoint": {"--endpoint", "localhost", "-o", run},
		"dialect": with("--dialect", "french"), "harness": with("--harness", "9-tool"), "samples": with("-k", "0"),
		"temperature": with("--temperature", "-1"), "top-p": with("--top-p", "1.5"), "min-p": with("--min-p", "NaN"),
		"max-tokens": with("--max-tokens", "0"), "template": with("--chat-template-kwargs", "[]"),
		"seeds": with("--seed", "9223372036854775807", "-k", "2"),
	} {
		if code, _, words := arenaRun(append(base[:len(base):len(base)], more...)...); code != cli.ExitUsage || !strings.Contains(words, "arena: hint: ") {
			t.Errorf("%s: exit %d: %s", name, code, words)
		}
		if _, err := os.Stat(run); err == nil {
			t.Errorf("%s left a folder", name)
		}
	}
	if err := os.WriteFile(catalog, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, words := arenaRun(append(base, server...)...); code != cli.ExitFailure || !strings.Contains(words, "no product") {
		t.Errorf("empty catalogue: exit %d: %s", code, words)
	}
}
