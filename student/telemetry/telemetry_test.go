package telemetry

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const page = `# HELP vllm:num_requests_running x
vllm:num_requests_running{model_name="m",engine="0"} 3.0
vllm:num_requests_running{model_name="m",engine="1"} 4.0
vllm:num_requests_waiting{a="}"} 2
vllm:kv_cache_usage_perc 0.25
vllm:other 9
vllm:prefix_cache_hits_total NaN
broken{`

func TestParseMetrics(t *testing.T) {
	t.Parallel()
	want := map[string]float64{"running": 7, "waiting": 2, "kv_cache_use": 0.25}
	if diff := cmp.Diff(want, ParseMetrics(strings.NewReader(page))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseGPUs(t *testing.T) {
	t.Parallel()
	got := parseGPUs("0, 87, 40123, 310.52\n1, [N/A], 12, [N/A]\nrubbish\n")
	if len(got) != 2 || *got[0].Use != 0.87 || *got[0].Memory != 40123 || got[1].Use != nil || got[1].Power != nil {
		t.Errorf("%+v", got)
	}
}

func TestWatchWithoutAnythingToSee(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	path := filepath.Join(t.TempDir(), "telemetry.jsonl")
	ctx, cancel := context.WithTimeout(t.Context(), every+every/2)
	defer cancel()
	w := Watcher{Bases: []string{web.URL + "/v1"}, Path: path, Now: time.Now}
	if err := w.Watch(ctx); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || strings.Count(string(b), "\n") != 1 {
		t.Errorf("%q, %v", b, err)
	}
}

func FuzzParseMetrics(f *testing.F) {
	f.Add(page)
	f.Fuzz(func(_ *testing.T, s string) { ParseMetrics(strings.NewReader(s)); parseGPUs(s) })
}
