package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/judges/batch"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
)

type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("a batch sends nothing")
}

// round judges five attempts from the folder of a batch, and returns the scores and
// the lines of the new file of requests.
func round(t *testing.T, ledgerDir, dir string) (scored int, requests []string) {
	t.Helper()
	l, err := ledger.Open(ledgerDir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	files, err := batch.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg := llm.Defaults()
	cfg.Endpoints = endpointsAt("http://models.invalid/v1")
	cfg.Panel = panel(llm.Primary)
	j, err := llm.New(cfg, l, llm.Options{Transport: noNetwork{}, Now: time.Now, Batch: files})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for i := range 5 {
		got, askErr := ask(t.Context(), j, i+1)
		if askErr != nil {
			t.Fatal(askErr)
		}
		if got.Outcome == arena.JudgeScored {
			scored++
		}
	}
	path, count, err := files.Close()
	if err != nil {
		t.Fatal(err)
	}
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		requests = strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	if len(requests) != count {
		t.Errorf("got %d lines, reported are %d", len(requests), count)
	}
	return scored, requests
}

// answer writes the provider's file of results.
func answer(t *testing.T, dir, name string, requests []string, reply func(i int) string) {
	t.Helper()
	var b strings.Builder
	for i, line := range requests {
		var r struct {
			ID   string `json:"custom_id"`
			Body struct{ Model string }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Body.Model == "" {
			t.Fatalf("%s: %v", line, err)
		}
		text := reply(i)
		if text == "" {
			fmt.Fprintf(&b, `{"id":"b%d","custom_id":%q,"response":{"status_code":500,"body":{}},"error":null}`+"\n", i, r.ID)
			continue
		}
		content, _ := json.Marshal(text)
		fmt.Fprintf(&b, `{"id":"b%d","custom_id":%q,"response":{"status_code":200,"request_id":"r","body":{"model":"judge-a","choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":900,"completion_tokens":40}}},"error":null}`+"\n", i, r.ID, content)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestABatchIsAskedOnce follows five attempts through three batches: no question is asked twice, a
// failed request and a doubted answer are asked again, and every answer is in the ledger.
func TestABatchIsAskedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ledgerDir := t.TempDir()
	scored, first := round(t, ledgerDir, dir)
	if scored != 0 || len(first) != 5 || !strings.Contains(first[0], `"response_format"`) || !strings.Contains(first[0], `"url":"/v1/chat/completions"`) {
		t.Fatalf("%d scored, %d requests: %s", scored, len(first), first)
	}
	if n, again := round(t, ledgerDir, dir); n != 0 || again != nil {
		t.Errorf("asked again before the answers: %d scored, %q", n, again)
	}
	doubted := `{"evidence": [], "reasoning_quality": 0.7, "explanation": "Gate 4 failed"}`
	answer(t, dir, "results.jsonl", first, func(i int) string {
		return []string{modeltest.Grade(0.5), "", doubted, modeltest.Grade(0.9), modeltest.Grade(0.1)}[i]
	})
	if n, _ := round(t, ledgerDir, t.TempDir()); n != 0 {
		t.Errorf("%d scored without the results", n)
	}
	// A run that is killed has collected some answers and written no requests.
	scored, second := round(t, ledgerDir, dir)
	if scored != 3 || len(second) != 2 {
		t.Fatalf("%d scored, %d requests again", scored, len(second))
	}
	answer(t, dir, "results-2.jsonl", second, func(int) string { return modeltest.Grade(0.3) })
	if n, third := round(t, ledgerDir, dir); n != 5 || third != nil {
		t.Errorf("%d scored, %q", n, third)
	}
	if n, third := round(t, ledgerDir, t.TempDir()); n != 5 || third != nil {
		t.Errorf("from the ledger alone: %d scored, %q", n, third)
	}
}

// TestABatchAsksTwice holds that a question is in at most two batches: a request after
// the last try would be paid for and its answer never read.
func TestABatchAsksTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ledgerDir := t.TempDir()
	doubted := func(int) string {
		return `{"evidence": [], "reasoning_quality": 0.7, "explanation": "Gate 4 failed"}`
	}
	_, requests := round(t, ledgerDir, dir)
	answer(t, dir, "results.jsonl", requests, doubted)
	_, again := round(t, ledgerDir, dir)
	if len(again) != 5 {
		t.Fatalf("%d requests again, want 5", len(again))
	}
	answer(t, dir, "results-2.jsonl", again, doubted)
	if _, third := round(t, ledgerDir, dir); third != nil {
		t.Errorf("%d requests after the last try", len(third))
	}
}
