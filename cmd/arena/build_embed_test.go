package main

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// bagOfWords is an embeddings server whose vectors count words by hash.
func bagOfWords(w http.ResponseWriter, r *http.Request) {
	var ask struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type item struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []item
	for i, text := range ask.Input {
		v := make([]float32, 64)
		for _, word := range strings.Fields(strings.ToLower(text)) {
			h := fnv.New32a()
			_, _ = io.WriteString(h, word) // a hash never fails
			v[h.Sum32()%64]++
		}
		data = append(data, item{"embedding", i, v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": "bag", "data": data}) // the client sees a broken body
}

func TestABuildComparesMeanings(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(bagOfWords))
	defer server.Close()
	out := filepath.Join(t.TempDir(), "corpus")
	args := []string{"build", testDay, "-o", out, "-q", "--embeddings-for", "guard", "--embeddings", server.URL + "/v1", "--embeddings-model", "bag"}
	var words strings.Builder
	if code := run(t.Context(), args, nil, io.Discard, &words); code != cli.ExitOK {
		t.Fatalf("exit %d\n%s", code, words.String())
	}
	b, err := os.ReadFile(filepath.Join(out, "reports", "leak.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Guard struct {
			Ran []string `json:"tiers_run"`
		}
	}
	if err := json.Unmarshal(b, &report); err != nil || !strings.Contains(strings.Join(report.Guard.Ran, " "), "embedding") {
		t.Errorf("tiers that ran: %v, %v", report.Guard.Ran, err)
	}
}

// TestATierOfEmbeddingsThatStops checks that a dropped connection is tried again. A lasting failure
// ends with exit code 3 and all findings of the other tiers, or, where the tier is required, with
// exit code 1 and no output. Without the tag long it runs one case of each end.
func TestATierOfEmbeddingsThatStops(t *testing.T) {
	t.Parallel()
	const drops = "drops"
	for name, tt := range map[string]struct {
		fault   string
		applies func(n int64) bool
		flags   []string
		code    int
		shared  bool // another case has it of a build
	}{
		"one dropped connection":       {drops, func(n int64) bool { return n == 1 }, nil, cli.ExitOK, true},
		"another":                      {drops, func(n int64) bool { return n == 2 }, nil, cli.ExitOK, false},
		"unreachable before the bank":  {"gone", func(int64) bool { return true }, nil, cli.ExitLimit, true},
		"unreachable after the bank":   {"gone", func(n int64) bool { return n > 1 }, nil, cli.ExitLimit, false},
		"required, before the bank":    {"gone", func(int64) bool { return true }, []string{"--embeddings-required"}, cli.ExitFailure, true},
		"required, after the bank":     {"gone", func(n int64) bool { return n > 1 }, []string{"--embeddings-required"}, cli.ExitFailure, false},
		"required, dropped connection": {drops, func(n int64) bool { return n == 2 }, []string{"--embeddings-required"}, cli.ExitOK, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for command, args := range map[string][]string{
				"leak":  {"leak", "--held-out", filepath.Join("..", "..", "testdata", "leak", "bank.jsonl"), filepath.Join("..", "..", "testdata", "leak", "texts.jsonl")},
				"build": {"build", testDay},
			} {
				if tt.shared && command == "build" && !longtest.Tests {
					continue
				}
				var requests atomic.Int64
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					switch n := requests.Add(1); {
					case !tt.applies(n):
						bagOfWords(w, r)
					case tt.fault == drops:
						panic(http.ErrAbortHandler)
					default:
						http.Error(w, strings.Repeat("<p>gone\x1b[31m", 30_000), http.StatusNotFound)
					}
				}))
				t.Cleanup(server.Close)
				out := filepath.Join(t.TempDir(), "out")
				if command == "build" {
					args = append(args, "--embeddings-for", "guard")
				}
				args = append(args, "-o", out, "-q", "--embeddings", server.URL+"/v1", "--embeddings-model", "bag")
				var words strings.Builder
				if code := run(t.Context(), append(args, tt.flags...), nil, io.Discard, &words); code != tt.code {
					t.Errorf("%s: exit %d, want %d\n%s", command, code, tt.code, words.String())
				}
				if text := words.String(); len(text) > 1500 || strings.ContainsRune(text, 0x1b) {
					t.Errorf("%s: %d bytes of words: %.200q", command, len(text), text)
				}
				if _, err := os.Stat(out); (err == nil) != (tt.code != cli.ExitFailure) {
					t.Errorf("%s: output %v", command, err)
				}
			}
		})
	}
}
