package guard

import (
	"context"
	"encoding/json"
	"github.com/trajectory-arena/arena/internal/model"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// vectorServer answers as an embeddings endpoint. Texts with the same first word have the same
// vector; the Japanese word for kettle counts as the English one.
func vectorServer(t *testing.T, calls *atomic.Int64, fault func(n int64, w http.ResponseWriter) bool) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || len(req.Input) > 64 {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if fault != nil && fault(calls.Add(1), w) {
			return
		}
		type datum struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []datum
		for i, text := range req.Input {
			data = append(data, datum{i, vectorOf(text)})
		}
		slices.Reverse(data)
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

func vectorOf(text string) []float32 {
	word, _, _ := strings.Cut(strings.TrimPrefix(text, "query: "), " ")
	if word == "やかん" {
		word = "kettle"
	}
	h := fnv.New64a()
	h.Write([]byte(word))
	v := make([]float32, 16)
	for i := range v {
		v[i] = float32(h.Sum64()>>(4*i)&15) - 7.5
	}
	return v
}

func newTestEmbedder(t *testing.T, url string) *model.Embedder {
	t.Helper()
	e, err := model.OpenEmbedder(model.EmbedderConfig{BaseURL: url, Model: "m", Prefix: "query: ", Tries: 3, Wait: time.Millisecond, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func bankOfTopics() []Entry {
	var bank []Entry
	for _, text := range []string{"kettle of copper with 2 liters", "sock of wool, three pairs", "violin bow of carbon", "lamp with linen shade", "tent for four people"} {
		bank = append(bank, Entry{ID: text, Bank: "b", Text: text})
	}
	return bank
}

func TestEmbeddingTierOnlyAddsDrops(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	g := newTestGuard(t, bankOfTopics())
	tier, err := NewEmbeddingTier(t.Context(), g, newTestEmbedder(t, vectorServer(t, &calls, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if tier.limits.cosine <= 0 || tier.limits.cosine > 1 || tier.limits.lead < 0 || tier.limits.lead > 1 {
		t.Errorf("limits %+v", tier.limits)
	}
	candidates := []Candidate{{Text: "やかん 湯を沸かす道具がほしい"}, {Text: "やかん 7 リットル湯沸かし"}, {Text: "unrelated 何か別のもの"}, {Text: bankOfTopics()[1].Text}}
	findings := make([]Finding, len(candidates))
	for i, c := range candidates {
		findings[i] = g.Check(c)
	}
	exact := findings[3]
	if err := tier.Check(t.Context(), candidates, findings); err != nil {
		t.Fatal(err)
	}
	if f := findings[0]; !f.Drop || f.Tier != TierEmbedding || f.Match != bankOfTopics()[0].ID {
		t.Errorf("a text of the same meaning: %+v", f)
	}
	if f := findings[1]; f.Drop && f.Match == "" {
		t.Errorf("dropped for nothing: %+v", f)
	}
	if findings[2].Drop {
		t.Errorf("another meaning: %+v", findings[2])
	}
	if findings[3] != exact {
		t.Errorf("a finding of a stronger tier changed: %+v", findings[3])
	}
}

func TestEmbedderRetriesAndRejectsInvalidVectors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault func(n int64, w http.ResponseWriter) bool
		fails bool
	}{
		"busy once": {func(n int64, w http.ResponseWriter) bool {
			if n == 1 {
				http.Error(w, `{"error":{"message":"busy"}}`, http.StatusTooManyRequests)
			}
			return n == 1
		}, false},
		"refused": {func(_ int64, w http.ResponseWriter) bool {
			http.Error(w, `{"error":{"message":"no"}}`, http.StatusForbidden)
			return true
		}, true},
		"dropped once": {func(n int64, _ http.ResponseWriter) bool {
			if n == 1 {
				panic(http.ErrAbortHandler)
			}
			return false
		}, false},
		"a page of errors": {func(_ int64, w http.ResponseWriter) bool {
			http.Error(w, strings.Repeat("<p>no\x1b[31m", 40_000), http.StatusForbidden)
			return true
		}, true},
		"index twice": {reply(`{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`), true},
		"mixed":       {reply(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}`), true},
		"missing":     {reply(`{"data":[{"index":1,"embedding":[1,2]}]}`), true},
		"zero":        {reply(`{"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[1,2]}]}`), true},
	} {
		var calls atomic.Int64
		e := newTestEmbedder(t, vectorServer(t, &calls, c.fault))
		v, err := embedTexts(t.Context(), e, []string{"one thing", "two things"})
		if c.fails != (err != nil) {
			t.Errorf("%s: error %v", name, err)
		}
		if err != nil && (len(err.Error()) > 500 || strings.ContainsRune(err.Error(), 0x1b)) {
			t.Errorf("%s: an error of %d bytes: %.200q", name, len(err.Error()), err)
		}
		if err == nil && (len(v) != 2 || dot(v[0], v[0]) < 0.999) {
			t.Errorf("%s: vectors %v", name, v)
		}
	}
}

func reply(body string) func(int64, http.ResponseWriter) bool {
	return func(_ int64, w http.ResponseWriter) bool {
		_, _ = w.Write([]byte(body))
		return true
	}
}

// startRequests is the number of requests with which a tier embeds its bank and the honest requests.
const startRequests = 1 + 8

func TestFailedEndpointKeepsFindings(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	g := newTestGuard(t, bankOfTopics())
	url := vectorServer(t, &calls, func(n int64, w http.ResponseWriter) bool {
		isAfterStart := n > startRequests
		if isAfterStart {
			http.Error(w, "gone", http.StatusNotFound)
		}
		return isAfterStart
	})
	tier, err := NewEmbeddingTier(t.Context(), g, newTestEmbedder(t, url))
	if err != nil {
		t.Fatal(err)
	}
	findings := []Finding{{}}
	if err := tier.Check(t.Context(), []Candidate{{Text: "kettle"}}, findings); err != nil || findings[0].Drop || tier.Down() == nil {
		t.Errorf("%v, %+v, down %v", err, findings[0], tier.Down())
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tier.Check(cancelled, []Candidate{{Text: "kettle"}}, findings); err == nil {
		t.Error("a cancelled run continues")
	}
}

// TestLeadDecides has a text whose cosine is below the limit of cosines and whose lead is above that
// of leads.
func TestLeadDecides(t *testing.T) {
	t.Parallel()
	bank := bankOfTopics()[:3]
	g := newTestGuard(t, bank)
	for name, c := range map[string]struct {
		text   string
		vector []float32
		drop   bool
	}{
		"another language":              {"やかん 2 リットル", []float32{0.9, 0.3, 0.3}, true},
		"words decide":                  {"copper kettle for tea", []float32{0.9, 0.3, 0.3}, false},
		"no word of the request":        {"a sock with a pattern of trees", []float32{0.9, 0.3, 0.3}, false},
		"a number contradicts":          {"copper kettle with 7 liters", []float32{0.9, 0.3, 0.3}, false},
		"two requests are as near":      {"やかん 2 リットル 靴下", []float32{0.7, 0.7, 0.1}, false},
		"another kind than a request":   {"やかん", []float32{0.15, 0.01, 0.01}, false},
		"the cosine is above its limit": {"copper kettle", []float32{0.99, 0.9, 0.9}, true},
	} {
		tier := &EmbeddingTier{
			guard: g, entries: []int{0, 1, 2}, vectors: [][]float32{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
			limits: limits{cosine: 0.95, lead: 0.5, unrelated: 0.2},
		}
		f := Finding{}
		tier.judge(c.text, c.vector, &f)
		if f.Drop != c.drop || f.Drop && f.Match != bank[0].ID {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestLimitOf checks that at most the given share of the values is above the limit.
func TestLimitOf(t *testing.T) {
	t.Parallel()
	values := []float64{5, 1, 4, 2, 3}
	for share, want := range map[float64]float64{0: 5, 0.1: 5, 0.2: 4, 0.5: 3} {
		if got := limitOf(values, share); got != want {
			t.Errorf("share %v: limit %v, want %v", share, got, want)
		}
	}
	if limitOf(nil, 0.1) != 1 {
		t.Error("a limit of no values is exceeded")
	}
}
