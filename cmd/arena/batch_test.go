package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
)

// writeResults writes the results of all requests of a batch as a provider does, with scores that
// differ from one request to the next. It returns the number of requests.
func writeResults(t *testing.T, dir string) int {
	t.Helper()
	requests, err := os.ReadFile(filepath.Join(dir, "requests-0001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	var results bytes.Buffer
	for i, line := range strings.Split(strings.TrimSpace(string(requests)), "\n") {
		var r struct {
			ID string `json:"custom_id"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || ids[r.ID] {
			t.Fatalf("request %d: id %q again, or %v", i+1, r.ID, err)
		}
		ids[r.ID] = true
		content, err := json.Marshal(modeltest.Grade([]float64{0.1, 0.3, 0.5, 0.7, 0.9}[i%5]))
		if err != nil {
			t.Fatal(err)
		}
		const format = `{"id":"b%d","custom_id":%q,"response":{"status_code":200,"body":{"model":"m","choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":900,"completion_tokens":40}}},"error":null}`
		fmt.Fprintf(&results, format+"\n", i, r.ID, content)
	}
	if err := os.WriteFile(filepath.Join(dir, "results.jsonl"), results.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return len(ids)
}

// TestKilledWhileCollectingABatch kills the command that collects the results of a batch at several
// moments: no question is asked again, and the grades are those of an uninterrupted run.
func TestKilledWhileCollectingABatch(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: the race detector observes nothing of a killed process")
	}
	t.Parallel()
	arena := program(t)
	dir := t.TempDir()
	batch := filepath.Join(dir, "batch")
	judge := func(ledger string) *exec.Cmd {
		return exec.Command(arena, "judge", testDay, "--judge", "llm", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m",
			"--batch", batch, "--ledger", filepath.Join(dir, ledger), "-o", filepath.Join(dir, ledger+".jsonl"), "-q")
	}
	if b, err := judge("asked").CombinedOutput(); err == nil {
		t.Fatalf("a run without results ended with 0:\n%s", b)
	}
	requests := writeResults(t, batch)
	if requests < 50 {
		t.Fatalf("%d requests: too few to be killed among", requests)
	}

	start := time.Now()
	if b, err := judge("whole").CombinedOutput(); err != nil {
		t.Fatalf("collect: %v\n%s", err, b)
	}
	took := time.Since(start)
	kills := longtest.Pick(20, 2)
	for i := range kills {
		c := judge("killed")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(i+1) / time.Duration(kills+2))
		_ = c.Process.Kill() // it may have ended already
		_ = c.Wait()         // killed, or done before
	}
	if b, err := judge("killed").CombinedOutput(); err != nil {
		t.Fatalf("collect after kills: %v\n%s", err, b)
	}

	if more, _ := filepath.Glob(filepath.Join(batch, "requests-*.jsonl")); len(more) != 1 {
		t.Errorf("files of requests: %v, want one", more)
	}
	want := grades(t, filepath.Join(dir, "whole.jsonl"))
	killed := grades(t, filepath.Join(dir, "killed.jsonl"))
	if want != killed {
		t.Error("the grades after kills differ from those of a run that was never killed")
	}
	if n := strings.Count(killed, `"scored"`); n != requests {
		t.Errorf("%d grades for %d requests", n, requests)
	}
}

// grades returns the lines of a file of judgements without the field cached, which is true if
// another process recorded the answer.
func grades(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`"cached":true`, "", `"cached":false`, "").Replace(string(b))
}
