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
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
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
	args := []string{"build", filepath.Join("..", "..", "testdata", "day"), "-o", out, "-q", "--embed-endpoint", server.URL + "/v1", "--embed-model", "bag"}
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
