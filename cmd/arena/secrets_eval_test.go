package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/canary"
	"github.com/trajectory-arena/arena/internal/script"
)

// talkative returns the URL of a model that writes a secret in its thoughts, texts, arguments and
// tool names, on a server that writes it in its error messages. A request begins with the number of
// the secret.
func talkative(t *testing.T, secrets []canary.Canary) string {
	t.Helper()
	number := func(query string) int {
		n, _, _ := strings.Cut(query, " ")
		if i, err := strconv.Atoi(n); err == nil {
			return i
		}
		return 0 // requests that are sent before a run
	}
	plays := &script.Server{Dialect: "native", Plan: func(query string, _ int64) script.Plan {
		i := number(query)
		s := secrets[i].Text
		arguments := string(encodedLine(t, map[string]any{"q": title(i), "note": []string{s}}))
		words := string(encodedLine(t, map[string]any{"product_ids": fmt.Sprint(700 + i)}))
		search := script.Call{Name: "find_product", Arguments: string(encodedLine(t, map[string]any{"q": title(i)}))}
		return script.Plan{
			{Reasoning: "I noted " + s, Content: "<think>So: " + s + "</think>Looking: " + s, Calls: []script.Call{search, {Name: "find_product", Arguments: arguments}}},
			{Content: s, Calls: []script.Call{{Name: "tell " + s, Arguments: "{" + s}}},
			{Content: "It is " + s, Calls: []script.Call{{Name: "recommend_product", Arguments: words}}},
			{Content: s, Calls: []script.Call{{Name: "terminate", Arguments: "{}"}}},
		}
	}}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		if _, err := body.ReadFrom(r.Body); err != nil {
			panic(err)
		}
		r.Body = http.NoBody
		r.ContentLength = 0
		var request struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal(body.Bytes(), &request); err == nil && len(request.Messages) > 1 {
			if i := number(request.Messages[1].Content); i%7 == 6 {
				w.WriteHeader(http.StatusUnprocessableEntity)
				fmt.Fprintf(w, `{"error":{"message":%q}}`, "no, because of "+secrets[i].Text)
				return
			}
		}
		again := httptest.NewRequest(r.Method, r.URL.String(), &body)
		plays.ServeHTTP(w, again)
	}))
	t.Cleanup(web.Close)
	return web.URL + "/v1"
}

// title returns the title of the product that a request asks for.
func title(i int) string { return fmt.Sprintf("Desk lamp series %d", 700+i) }

// TestCanariesOfAnEvaluation plants secrets in requests, ids, prompts, replies and errors of a run,
// and searches all published files of its folder for them. The unredacted texts are in journals
// that only the owner can read.
func TestCanariesOfAnEvaluation(t *testing.T) {
	t.Parallel()
	secrets := canary.Sample()
	dir := t.TempDir()
	catalog := filepath.Join(dir, "catalog.jsonl")
	problems := filepath.Join(dir, "problems.jsonl")
	var goods, lines bytes.Buffer
	for i, s := range secrets {
		fmt.Fprintf(&goods, `{"product_id":"%d","shop_id":"5","title":%q,"price":10,"service":[],"sold_count":1,"short_description":"","description":"","attributes":{},"sku_options":{}}`+"\n", 700+i, title(i))
		lines.Write(encodedLine(t, map[string]any{"problem_id": s.Text, "query": fmt.Sprintf("%d Find a lamp, %s", i, s.Text), "category": "Product",
			"reward": map[string]any{"product_id": fmt.Sprint(700 + i), "title": []string{title(i)}}}))
	}
	put(t, catalog, goods.Bytes())
	put(t, problems, lines.Bytes())
	out := filepath.Join(dir, "out")
	run := filepath.Join(out, "run")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"eval", "--endpoint", strings.Replace(talkative(t, secrets), "://", "://u:hunter2pass@", 1), "--model", "m " + secrets[3].Text,
		"--problems", problems, "--catalog", catalog, "--retries", "0", "--min-coverage", "0", "-o", run}
	for i, args := range [][]string{
		arguments,
		arguments, // the run is finished: all output files are written again
		{"eval", "--rescore", run, "--problems", problems, "--catalog", catalog, "--min-coverage", "0"},
		{"results", run, "-o", filepath.Join(out, "results.jsonl")},
		{"compare", run, run, "--json", "--min-coverage", "0"},
		{"build", run, "--catalog", catalog, "-o", filepath.Join(out, "built"), "--work", filepath.Join(dir, "work")},
	} {
		code, output, words := arenaRun(args...)
		if put(t, filepath.Join(out, fmt.Sprintf("words-%d.txt", i)), []byte(output+words)); code != 0 {
			t.Errorf("%v ends with %d: %.2000s", args, code, words)
		}
	}
	remaining := map[string]int{}
	for _, f := range canary.Find(t, secrets, out) {
		if strings.HasSuffix(f.Path, ".journal") {
			continue
		}
		if remaining[f.Path]++; remaining[f.Path] < 4 {
			t.Errorf("%s: %s", f.Kind, f.Path)
		}
	}
	for _, name := range []string{"turns.journal", "rollouts.journal"} {
		if info, err := os.Stat(filepath.Join(run, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
