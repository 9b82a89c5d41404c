// Package telemetry watches the machine while a run goes on: what the model
// server says of itself, and what the GPUs do. All of it may be missing; none
// of it reaches a result.
package telemetry

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Sample is one moment. Nil is what nobody could tell.
type Sample struct {
	// Seconds is the time since the run began.
	Seconds float64            `json:"seconds"`
	Server  map[string]float64 `json:"server,omitempty"`
	GPUs    []GPU              `json:"gpus,omitempty"`
}

// gauges are the metrics that are kept, by what servers call them. Counters
// end in _total; of several series with one name the sum is taken.
var gauges = map[string]string{
	"vllm:num_requests_running": "running", "vllm:num_requests_waiting": "waiting",
	"vllm:gpu_cache_usage_perc": "kv_cache_use", "vllm:kv_cache_usage_perc": "kv_cache_use",
	"vllm:prefix_cache_hits_total": "prefix_hits", "vllm:prefix_cache_queries_total": "prefix_queries",
	"vllm:gpu_prefix_cache_hits_total": "prefix_hits", "vllm:gpu_prefix_cache_queries_total": "prefix_queries",
	"sglang:num_running_reqs": "running", "sglang:num_queue_reqs": "waiting", "sglang:token_usage": "kv_cache_use",
	"sglang:cache_hit_rate": "prefix_hit_rate",
}

// ParseMetrics reads the Prometheus text that a server gives, as far as it is
// of use here.
func ParseMetrics(r io.Reader) map[string]float64 {
	out := map[string]float64{}
	for in := bufio.NewScanner(r); in.Scan(); {
		line := in.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest := line, ""
		if i := strings.IndexAny(line, "{ "); i >= 0 {
			name, rest = line[:i], line[i:]
		}
		key, wanted := gauges[name]
		if !wanted {
			continue
		}
		if i := strings.LastIndexByte(rest, '}'); i >= 0 {
			rest = rest[i+1:]
		}
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		if v, err := strconv.ParseFloat(fields[0], 64); err == nil && v == v && v < 1e18 {
			out[key] += v
		}
	}
	return out
}

// Watcher takes samples while a run goes on.
type Watcher struct {
	// Bases are the endpoints' base URLs, ending in /v1.
	Bases []string
	// Path is the file for the time series, one JSON line a sample.
	Path string
	Now  func() time.Time
	// Waiting is told how many requests an endpoint keeps waiting.
	Waiting func(base string, requests int)
}

// every is the time between samples; timeout bounds one question.
const (
	every   = 2 * time.Second
	timeout = time.Second
)

// Watch takes samples until ctx ends.
func (w Watcher) Watch(ctx context.Context) (err error) {
	f, err := os.OpenFile(w.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("keep telemetry: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	began := w.Now()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		s := Sample{Seconds: w.Now().Sub(began).Seconds(), Server: w.server(ctx), GPUs: gpus(ctx)}
		b, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("keep telemetry: %w", err)
		}
		if _, err := f.Write(append(b, '\n')); err != nil {
			return fmt.Errorf("keep telemetry: %w", err)
		}
	}
}

// server asks every endpoint and adds up what they say.
func (w Watcher) server(ctx context.Context) map[string]float64 {
	var sum map[string]float64
	for _, base := range w.Bases {
		m := ask(ctx, strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1")+"/metrics")
		if waiting, ok := m["waiting"]; ok && w.Waiting != nil {
			w.Waiting(base, int(waiting))
		}
		for k, v := range m {
			if sum == nil {
				sum = map[string]float64{}
			}
			sum[k] += v
		}
	}
	return sum
}

func ask(ctx context.Context, url string) map[string]float64 {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close() //nolint:errcheck // only read
	if res.StatusCode != http.StatusOK {
		return nil
	}
	const most = 8 << 20
	return ParseMetrics(io.LimitReader(res.Body, most))
}
