package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/endpoint"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/student/serve"
	"github.com/trajectory-arena/arena/student/telemetry"
)

// evalWatch runs beside an evaluation: the model server, its telemetry, and a
// line for people every so often.
type evalWatch struct {
	streams *streams
	flags   *evalFlags
	pool    *endpoint.Pool
	total   int
	began   time.Time
	server  *serve.Server

	mu                    sync.Mutex
	done, successes, lost int
}

func newEvalWatch(s *streams, f *evalFlags, run *student.Run, pool *endpoint.Pool) *evalWatch {
	return &evalWatch{streams: s, flags: f, pool: pool, total: run.Spec.Problems * run.Spec.Samples, began: time.Now()}
}

// ended counts a rollout.
func (w *evalWatch) ended(r *rollout.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done++
	if r.Outcome == rollout.Infra {
		w.lost++
	} else if *r.Success {
		w.successes++
	}
}

// serveTime is how long a model server may take to load its weights.
const serveTime = 30 * time.Minute

// start begins all that runs beside; stop ends it and, after a run that was
// not refused or broken off, keeps the account.
func (w *evalWatch) start(ctx context.Context) (stop func(whole bool) error, err error) {
	if err := os.MkdirAll(w.flags.out, 0o755); err != nil {
		return nil, fmt.Errorf("create run folder: %w", err)
	}
	if w.flags.serve != "" {
		if err := w.startServer(ctx); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 2)
	go func() { ended <- w.telemetry().Watch(ctx) }()
	go func() { ended <- w.printing(ctx) }()
	return func(whole bool) error {
		cancel()
		err := errors.Join(<-ended, <-ended)
		if whole {
			err = errors.Join(err, w.account())
		}
		if w.server != nil {
			err = errors.Join(err, w.server.Stop())
		}
		return err
	}, nil
}

func (w *evalWatch) startServer(ctx context.Context) error {
	var err error
	if w.server, err = serve.Start(w.flags.serve, w.file(student.ServerLog)); err != nil {
		return failed(err, "--serve is a shell command such as 'vllm serve MODEL --port 8000'")
	}
	if err = w.server.Wait(ctx, w.flags.endpoints[0], serveTime); err != nil {
		return errors.Join(failed(err, "the server must answer at --endpoint"), w.server.Stop())
	}
	return nil
}

// file is a file of the run folder.
func (w *evalWatch) file(name string) string { return filepath.Join(w.flags.out, name) }

func (w *evalWatch) telemetry() telemetry.Watcher {
	return telemetry.Watcher{
		Bases: w.flags.endpoints, Path: w.file(student.TelemetrySeries), Now: time.Now,
		Waiting: w.pool.Queued,
	}
}

// printing prints a line every ten seconds.
func (w *evalWatch) printing(ctx context.Context) error {
	const every = 10 * time.Second
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if !w.flags.quiet {
				w.print()
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (w *evalWatch) print() {
	w.mu.Lock()
	defer w.mu.Unlock()
	rate := float64(w.done) / time.Since(w.began).Seconds()
	left := time.Duration(0)
	if rate > 0 {
		left = time.Duration(float64(w.total-w.done) / rate * float64(time.Second)).Round(time.Second)
	}
	fmt.Fprintf(w.streams.err, "%d of %d rollouts, %d solved, %d infra, %.1f/s, about %s left, limits %v\n",
		w.done, w.total, w.successes, w.lost, rate, left, w.pool.Limits())
}

// evalAccount is telemetry.json: what depends on clock and machine, and so is
// no part of the summary.
type evalAccount struct {
	Seconds           float64 `json:"seconds"`
	Rollouts          int     `json:"rollouts"`
	RolloutsPerSecond float64 `json:"rollouts_per_second"`
	Requests          int64   `json:"requests"`
	Retries           int64   `json:"retries"`
	Overloads         int64   `json:"overloads"`
	Limits            []int   `json:"limits"`
	Serve             string  `json:"serve,omitempty"`
}

func (w *evalWatch) account() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, seconds := w.pool.Counts(), time.Since(w.began).Seconds()
	b, err := json.MarshalIndent(evalAccount{
		Seconds: seconds, Rollouts: w.done, RolloutsPerSecond: float64(w.done) / seconds, Requests: c.Requests.Load(),
		Retries: c.Retries.Load(), Overloads: c.Overloads.Load(), Limits: w.pool.Limits(), Serve: w.flags.serve,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("write telemetry: %w", err)
	}
	return os.WriteFile(w.file("telemetry.json"), append(b, '\n'), 0o644)
}
