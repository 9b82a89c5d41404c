package llm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
)

// cassette plays recorded replies, each model's in their order. It is all the
// network that a judge needs.
type cassette struct {
	mu      sync.Mutex
	replies map[string][]recorded
}

// recorded is one reply as a server of the kind named sent it.
type recorded struct {
	Server  string
	Model   string
	Status  int
	Headers map[string]string
	Body    string
}

func openCassette(t *testing.T, name string) *cassette {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	c := &cassette{replies: map[string][]recorded{}}
	for d := json.NewDecoder(bytes.NewReader(b)); d.More(); {
		var r recorded
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		c.replies[r.Model] = append(c.replies[r.Model], r)
	}
	return c
}

func (c *cassette) RoundTrip(r *http.Request) (*http.Response, error) {
	var request struct{ Model string }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	replies := c.replies[request.Model]
	if len(replies) == 0 {
		return nil, errors.New("the cassette has ended")
	}
	c.replies[request.Model] = replies[1:]
	h := http.Header{}
	for name, value := range replies[0].Headers {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: replies[0].Status, Header: h, Body: io.NopCloser(strings.NewReader(replies[0].Body)), Request: r}, nil
}

// TestCassette judges six attempts with a primary and a fallback on recorded exchanges with servers
// of many kinds.
func TestCassette(t *testing.T) {
	t.Parallel()
	tape := openCassette(t, "cassette.jsonl")
	l, err := ledger.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	cfg := llm.Defaults()
	cfg.Endpoints = endpointsAt("http://models.invalid/v1")
	cfg.Panel = panel(llm.Primary, llm.Fallback)
	cfg.Backoff = time.Millisecond
	cfg.BackoffCap = time.Millisecond
	j, err := llm.New(cfg, l, llm.Options{Transport: tape, Now: time.Now, Prices: table})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for i, want := range []struct {
		score  float64
		model  string
		quote  string
		tokens int
	}{
		{0.7, "judge-a", "completion_tokens=55", 2236},
		{0.9, "judge-a", "I prefer the first", 2236},
		{0.3, "judge-b", "recorded outside the agent", 2236},
		{0.5, "judge-b", "The first lamp", 0}, // the server does not count
		{0.1, "judge-a", "", 5212 + 2140 + 2204},
		{0.7, "judge-a", "recorded outside the agent", 2236 + 2236},
	} {
		got, err := ask(t.Context(), j, i+1)
		if err != nil || got.Outcome != arena.JudgeScored {
			t.Fatalf("attempt %d: %+v, %v", i+1, got, err)
		}
		quote := ""
		if len(got.Spans) > 0 {
			quote = got.Spans[0].Quote
		}
		if *got.Score != want.score || got.Model != want.model || quote != want.quote {
			t.Errorf("attempt %d: %v of %s citing %q, want %+v", i+1, *got.Score, got.Model, quote, want)
		}
		if tokens := got.PromptTokens + got.CompletionTokens; want.tokens > 0 && tokens != want.tokens || tokens == 0 {
			t.Errorf("attempt %d: %d tokens, want %d", i+1, tokens, want.tokens)
		}
	}
	tape.ended(t)
}

func (c *cassette) ended(t *testing.T) {
	t.Helper()
	for model, replies := range c.replies {
		if len(replies) > 0 {
			t.Errorf("%d replies of %s were not asked for", len(replies), model)
		}
	}
}
