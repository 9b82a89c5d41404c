package student

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trajectory-arena/arena/internal/journal"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Memory would grow with the number of long rollouts that run at the same time. So of those with a
// trace of more than usualTrace bytes (about 250,000 tokens), at most longTraces run at the same
// time.
const (
	usualTrace = 2 << 20
	longTraces = 4
)

// turns is the model that one rollout asks. It retains the memory of a large reply until the next
// request or the end of the rollout, but not while it waits for a server.
type turns struct {
	rollout.Model
	reply model.Hold
}

func (t *turns) Chat(ctx context.Context, request model.Body) (model.Reply, []byte, error) {
	t.reply.Release()
	return t.Model.Chat(t.reply.Context(ctx), request)
}

func (f *folder) missing(spec Spec) (keys []journal.Key) {
	for key := range spec.rollouts {
		if _, done := f.done[key]; !done {
			keys = append(keys, key)
		}
	}
	return keys
}

func (f *folder) past(key journal.Key) ([]rollout.Turn, error) {
	f.mu.Lock()
	entries := f.begun[key]
	f.mu.Unlock()
	turns := make([]rollout.Turn, len(entries))
	for i, e := range entries {
		b, err := f.turns.Read(e)
		if err != nil {
			return nil, err
		}
		if turns[i], err = rollout.DecodeTurn(b); err != nil {
			return nil, fmt.Errorf("read turn %d: %w", i+1, err)
		}
	}
	return turns, nil
}

// keep appends a turn (a reply of the model) of a rollout to the run's journal of turns before the
// next request is sent, so that the rollout can resume after it.
func (f *folder) keep(key journal.Key, t rollout.Turn) error {
	e, err := f.turns.Append(key, t.Encode())
	if err == nil {
		f.mu.Lock()
		f.begun[key] = append(f.begun[key], e)
		f.mu.Unlock()
	}
	return err
}

// finish appends a finished rollout to the run's file of rollouts, with its result in the first
// line and its trace in the second. It wakes the goroutines that wait for finished rollouts. Unless
// the run stores tokens, it forgets where the turns of the rollout are stored.
func (f *folder) finish(key journal.Key, r *rollout.Result) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	e, err := f.rollouts.Append(key, append(append(b, '\n'), r.Line...))
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done[key] = e
	if !f.keepsTokens {
		delete(f.begun, key)
	}
	if n := f.freshBytes + len(r.Line); len(f.fresh) < maxFresh && n <= maxFreshBytes {
		f.fresh[key] = r
		f.freshBytes = n
	}
	close(f.more)
	f.more = make(chan struct{})
	return nil
}

// Limits of the finished rollouts that are retained in memory until they are written to the
// outputs: their number, and the bytes of their traces. Rollouts finish nearly in the order in
// which they are written, so few have to be read back from the journal.
const (
	maxFresh      = 64
	maxFreshBytes = 8 << 20
)

// entry waits until a rollout is finished and returns its position in the run's journal (the file
// of finished rollouts). If the rollout is still in memory, entry returns it too and removes it
// from there; otherwise the second result is nil. The error is that of ctx.
func (f *folder) entry(ctx context.Context, key journal.Key) (journal.Entry, *rollout.Result, error) {
	for {
		f.mu.Lock()
		e, done := f.done[key]
		fresh, more := f.fresh[key], f.more
		if fresh != nil {
			delete(f.fresh, key)
			f.freshBytes -= len(fresh.Line)
		}
		f.mu.Unlock()
		if done {
			return e, fresh, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return e, nil, ctx.Err()
		}
	}
}

func (f *folder) finished(
	ctx context.Context,
	key journal.Key,
	runID string,
) (*rollout.Result, error) {
	e, fresh, err := f.entry(ctx, key)
	if err != nil || fresh != nil {
		return fresh, err
	}
	r, err := f.read(e)
	if err != nil {
		return nil, err
	}
	r.SetScore(r.Score)
	return r, r.ReadTrace(runID)
}

func (f *folder) read(e journal.Entry) (*rollout.Result, error) {
	b, err := f.rollouts.Read(e)
	if err != nil {
		return nil, err
	}
	head, line, _ := bytes.Cut(b, []byte{'\n'})
	r := &rollout.Result{Line: line}
	return r, wrong.Wrap("read rollout", json.Unmarshal(head, r))
}

// syncEvery is the time between two flushes of the run's journals (its files of replies and
// rollouts) to disk. A crash of the machine loses at most the work of this time. If only the
// process ends, nothing is lost.
const syncEvery = 200 * time.Millisecond

// syncing starts to flush the journals to disk every syncEvery. stop ends that with a last flush
// and returns its error, or that of an earlier flush. An error of a flush is also passed to fail at
// once, since later work could be lost.
func (f *folder) syncing(fail func(error)) (stop func() error) {
	done := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		for last := false; ; {
			select {
			case <-time.After(syncEvery):
			case <-done:
				last = true
			}
			if err := f.sync(); err != nil || last {
				fail(err)
				ended <- err
				return
			}
		}
	}()
	return func() error { close(done); return <-ended }
}
