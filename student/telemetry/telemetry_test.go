package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const vllmPage = `# HELP vllm:num_requests_running x
vllm:num_requests_running{model_name="m",engine="0"} 3.0
vllm:num_requests_running{model_name="m",engine="1"} 4.0
vllm:num_requests_waiting{a="}"} 2
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:kv_cache_usage_perc{engine="1"} 0.75
vllm:other 9
vllm:prefix_cache_queries_total{engine="0"} 400
vllm:prefix_cache_hits_total{engine="0"} 300
vllm:prompt_tokens_total NaN
broken{`

const sglangPage = `sglang:num_running_reqs{tp_rank="0",priority=""} 5
sglang:num_running_reqs{tp_rank="0",priority="0"} 2
sglang:num_running_reqs{tp_rank="0",priority="10"} 3
sglang:num_queue_reqs{tp_rank="0"} 1
sglang:token_usage 0.5
sglang:cache_hit_rate 0.99
sglang:cached_tokens_total 30
sglang:prompt_tokens_total 120
`

func TestMetricsOfEachServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page string
		want map[string]float64
	}{
		"vllm":     {vllmPage, map[string]float64{"running": 7, "waiting": 2, "kv_cache_use": 0.5, "prefix_queries": 400, "prefix_hits": 300, "prefix_hit_rate": 0.75}},
		"sglang":   {sglangPage, map[string]float64{"running": 5, "waiting": 1, "kv_cache_use": 0.5, "prefix_hits": 30, "prompt_tokens": 120, "prefix_hit_rate": 0.25}},
		"old vllm": {"vllm:gpu_prefix_cache_hit_rate 0.5\nvllm:gpu_cache_usage_perc 1\n", map[string]float64{"prefix_hit_rate": 0.5, "kv_cache_use": 1}},
		"llama.cpp": {"llamacpp:prompt_tokens_total 30\nllamacpp:prompt_tokens_cached_total 90\nllamacpp:requests_processing 2\n",
			map[string]float64{"running": 2, "prompt_tokens": 120, "prefix_queries": 120, "prefix_hits": 90, "prefix_hit_rate": 0.75}},
		"old llama.cpp": {"llamacpp:prompt_tokens_total 30\n", map[string]float64{"prompt_tokens": 30, "prefix_queries": 30}},
		"another":       {"http_requests_total 4\n", nil},
	} {
		g := newGathered()
		g.read(c.page)
		if diff := cmp.Diff(c.want, g.values()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestALongLineIsNoEnd checks that the metrics after a line of many labels are read.
func TestALongLineIsNoEnd(t *testing.T) {
	t.Parallel()
	g := newGathered()
	g.read(`x{a="` + strings.Repeat("b", 1<<20) + "\"} 1\n" + sglangPage)
	if got := g.values()["running"]; got != 5 {
		t.Errorf("running %v, want 5", got)
	}
}

// serverOf starts a server with pages by path and returns its base URL.
func serverOf(t *testing.T, key string, pages map[string]string) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := pages[r.URL.Path]
		if !known || key != "" && r.Header.Get("Authorization") != "Bearer "+key {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		w.Write([]byte(text))
	}))
	t.Cleanup(web.Close)
	return web.URL + "/v1"
}

func watcher(path string, bases ...string) Watcher {
	return Watcher{
		Bases: bases, GPUs: &GPUs{}, Path: path, Now: time.Now, Every: 20 * time.Millisecond,
		Rollouts: func() int { return 3 }, Seen: func(Sample) {},
	}
}

func TestWatchOverTwoServers(t *testing.T) {
	t.Parallel()
	a := serverOf(t, "k", map[string]string{"/metrics": vllmPage})
	b := serverOf(t, "k", map[string]string{"/metrics": sglangPage})
	path := filepath.Join(t.TempDir(), "telemetry.jsonl")
	w := watcher(path, a, b)
	w.Key = "k"
	ctx, cancel := context.WithCancel(t.Context())
	var last Sample
	seen := 0
	w.Seen = func(s Sample) {
		if last = s; seen == 2 {
			cancel()
		}
		seen++
	}
	if err := w.Watch(ctx); err != nil {
		t.Fatal(err)
	}
	if last.Server["running"] != 12 || last.Server["kv_cache_use"] != 0.5 || last.Rollouts != 3 {
		t.Errorf("%+v", last)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != seen {
		t.Errorf("%d samples, kept %q, %v", seen, text, err)
	}
}

// TestWatchEndsAlthoughAServerHangs checks that the end of a run does not wait for an outstanding
// answer.
func TestWatchEndsAlthoughAServerHangs(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var requests atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			cancel()
			<-r.Context().Done()
		}
	}))
	defer web.Close()
	start := time.Now()
	if err := watcher(filepath.Join(t.TempDir(), "telemetry.jsonl"), web.URL+"/v1").Watch(ctx); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d >= timeout {
		t.Errorf("waited %v for a server that hangs", d)
	}
}

// TestIdentifyStopsAtAServerThatHangs checks that identify stops after the first of its six
// questions if the server does not answer.
func TestIdentifyStopsAtAServerThatHangs(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests.Add(1); <-r.Context().Done() }))
	defer web.Close()
	Identify(t.Context(), web.URL+"/v1", "", "")
	if n := requests.Load(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// TestWatchWithoutAnythingToSee holds that metrics which no source reports are left out, and that a
// run which ends at once still has the two samples that measure its time.
func TestWatchWithoutAnythingToSee(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "telemetry.jsonl")
	w := watcher(path, "http://127.0.0.1:1/v1")
	w.Every = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	w.Seen = func(Sample) { cancel() }
	if err := w.Watch(ctx); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || strings.Count(string(b), "\n") != 2 || bytes.Contains(b, []byte("server")) {
		t.Errorf("%q, %v", b, err)
	}
}

func TestUsageOfSeveralCommands(t *testing.T) {
	t.Parallel()
	one := 1.0
	half := 0.5
	two := 2.0
	var lines []string
	for _, s := range []Sample{
		{Seconds: 0, GPUs: []GPU{{Use: &half, Memory: &one, Power: &two}, {Index: 1, Use: &one}}, Server: map[string]float64{"prefix_hits": 10, "prefix_queries": 100}},
		{Seconds: 10, GPUs: []GPU{{Use: &one, Memory: &two, Power: &two}}, Server: map[string]float64{"prefix_hits": 50, "prefix_queries": 150, "kv_cache_use": 0.5}},
		{Seconds: 14},
		// Resumed: the clock begins again, on a server that has answered others.
		{Seconds: 0, GPUs: []GPU{{}}},
		{Seconds: 2, Server: map[string]float64{"prefix_hits": 900, "prefix_queries": 950}, GPUs: []GPU{{}}},
		{Seconds: 6, Server: map[string]float64{"prefix_hits": 910, "prefix_queries": 1000, "kv_cache_use": 0.25}, GPUs: []GPU{{}}},
	} {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(b))
	}
	path := filepath.Join(t.TempDir(), "telemetry.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n{\"seconds\":7,\"gp"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadUsage(path)
	if err != nil {
		t.Fatal(err)
	}
	// GPU use: 10 s at 0.5 and 10 s at 1, then 4 s at 1.
	use := 19.0 / 24
	energy := 28.0 / 3600
	kv := 0.5
	rate := 0.5
	gpu := 30.0
	want := Usage{Seconds: 20, GPUSeconds: &gpu, GPUUse: &use, GPUMemory: &two, GPUPower: &two, EnergyWh: &energy, KVCacheUse: &kv, PrefixHitRate: &rate}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none, err := ReadUsage(path + ".none"); err != nil || none != (Usage{}) {
		t.Errorf("no series: %+v, %v", none, err)
	}
}

func FuzzMetricsAreFinite(f *testing.F) {
	f.Add(vllmPage)
	f.Add("vllm:num_requests_running +Inf")
	f.Add("0,[N/A],nan,1")
	f.Fuzz(func(t *testing.T, s string) {
		g := newGathered()
		g.read(s)
		device, _ := parseDevice(s)
		now, _ := parseGPU(s)
		if _, err := json.Marshal([]any{g.values(), device, now}); err != nil {
			t.Fatal(err)
		}
	})
}
