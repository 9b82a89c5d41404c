package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/endpoint"
	"github.com/trajectory-arena/arena/student/rollout"
)

// evalWatch tells people how a run goes: a line every so often.
type evalWatch struct {
	streams *streams
	quiet   bool
	pool    *endpoint.Pool
	total   int
	began   time.Time

	mu                    sync.Mutex
	done, successes, lost int
}

func newEvalWatch(s *streams, f *evalFlags, run *student.Run, pool *endpoint.Pool) *evalWatch {
	return &evalWatch{streams: s, quiet: f.quiet, pool: pool, total: run.Spec.Problems * run.Spec.Samples, began: time.Now()}
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

// start prints a line every ten seconds until stop is called.
func (w *evalWatch) start(ctx context.Context) (stop func() error, err error) {
	if w.quiet {
		return func() error { return nil }, nil
	}
	const every = 10 * time.Second
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.print()
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() error { cancel(); <-ended; return nil }, nil
}

func (w *evalWatch) print() {
	w.mu.Lock()
	defer w.mu.Unlock()
	seconds := time.Since(w.began).Seconds()
	fmt.Fprintf(w.streams.err, "%d of %d rollouts, %d solved, %d infra, %.1f/s, limits %v\n",
		w.done, w.total, w.successes, w.lost, float64(w.done)/seconds, w.pool.Limits())
}
