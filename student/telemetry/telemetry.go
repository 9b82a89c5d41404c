// Package telemetry watches the machine while a run goes on: what the model
// server says of itself, and what the GPUs do. All of it may be missing; none
// of it reaches a result.
package telemetry

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/webclient"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Sample has the measurements of one point in time. Nil values are unknown.
type Sample struct {
	// Seconds is the time since the command started. It decreases where a run was resumed.
	Seconds float64 `json:"seconds"`
	// Rollouts is the number of finished rollouts.
	Rollouts int `json:"rollouts"`
	// Server has running, waiting, kv_cache_use (0 to 1), prefix_hits, prefix_queries,
	// prefix_hit_rate (0 to 1), prompt_tokens, generation_tokens, preemptions: as far as the
	// servers report them, over all.
	Server map[string]float64 `json:"server,omitempty"`
	GPUs   []GPU              `json:"gpus,omitempty"`
}

// Watcher takes samples during a run.
type Watcher struct {
	// Bases are the endpoints' base URLs, ending in /v1.
	Bases []string
	// Key is their bearer token, empty for none.
	Key  string
	GPUs *GPUs
	// Path is the file for the time series, one JSON line a sample.
	Path string
	Now  func() time.Time
	// Loaded is the time for which the server had occupied the GPUs before the watch started.
	Loaded time.Duration
	// Every is the time between samples.
	Every time.Duration
	// Rollouts returns the number of finished rollouts.
	Rollouts func() int
	// Seen is called with each sample.
	Seen func(Sample)
}

// timeout is the maximum time for one request to a server or to nvidia-smi. Either may not answer
// for a second while the run keeps it busy.
const timeout = 5 * time.Second

// farewell is the maximum time for the last measurement of servers after a run. The measurement
// delays the end of the program.
const farewell = 2 * time.Second

// Watch takes samples until ctx ends, the first at once and the last at the
// end.
func (w Watcher) Watch(ctx context.Context) (err error) {
	f, err := os.OpenFile(
		w.Path,
		os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o644,
	)
	if err != nil {
		return fmt.Errorf("keep telemetry: %w", err)
	}
	defer wrong.Close(&err, f.Close)
	began := w.Now()
	if w.Loaded > 0 {
		if err := w.keep(f, Sample{GPUs: w.GPUs.Read()}); err != nil {
			return err
		}
		began = began.Add(-w.Loaded)
	}
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	for first := true; first || ctx.Err() == nil; first = false {
		s := w.sample(ctx, began)
		if ctx.Err() != nil {
			s.Server = nil // cut off: some may be missing from the sums
		}
		if err := w.keep(f, s); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	return w.keep(f, w.sample(end, began))
}

func (w Watcher) sample(ctx context.Context, began time.Time) Sample {
	return Sample{
		Seconds:  w.Now().Sub(began).Seconds(),
		Rollouts: w.Rollouts(),
		Server:   w.server(ctx),
		GPUs:     w.GPUs.Read(),
	}
}

func (w Watcher) keep(f io.Writer, s Sample) error {
	if _, err := f.Write(append(asjson.Bytes(s), '\n')); err != nil {
		return fmt.Errorf("keep telemetry: %w", err)
	}
	w.Seen(s)
	return nil
}

// server returns the metrics of all servers together, by name. It asks all servers at the same
// time, since one may hang. A server that fails adds nothing.
func (w Watcher) server(ctx context.Context) map[string]float64 {
	metrics := make([]*gathered, len(w.Bases))
	var asked sync.WaitGroup
	for i, base := range w.Bases {
		metrics[i] = newGathered()
		asked.Go(func() { // what says nothing adds nothing
			if text, err := webclient.Page(ctx, model.RootPageURL(base, "/metrics"), w.Key, maxPage); err == nil {
				metrics[i].read(text)
			}
		})
	}
	asked.Wait()
	sum := newGathered()
	for _, one := range metrics {
		for key, v := range one.sums {
			sum.sums[key] += v
			sum.counts[key] += one.counts[key]
		}
	}
	return sum.values()
}

const maxPage = 8 << 20
