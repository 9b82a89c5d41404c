package model

import (
	"cmp"
	"container/list"
	"context"
	"slices"
	"sync"
	"time"
)

// gate schedules requests in the order of their arrival. Each goes to the server with the
// lowest load. A server gets no more requests at once than its limit, and none while it
// pauses or is set aside.
type gate struct {
	mu      sync.Mutex
	now     func() time.Time
	breaker Breaker
	// patience is how long connections to a server must fail until it counts as down.
	patience time.Duration
	servers  []*server
	// waiting holds a *waiter for each request without a slot.
	waiting *list.List
	// wake runs admit when a pause is over.
	wake *time.Timer
}

// waiter is a request that waits for a slot. done is closed when slot or fault is set.
type waiter struct {
	avoid    *server
	affinity uint64
	done     chan struct{}
	slot     slot
	fault    *Fault
}

// slot is the right to send one request to a server. falls is server.falls when the slot
// was granted.
type slot struct {
	*server
	falls int
}

func newGate(c Config) *gate {
	g := &gate{
		now:      c.Now,
		breaker:  c.Breaker.withDefaults(),
		patience: cmp.Or(c.Patience, defaultPatience),
		waiting:  list.New(),
	}
	initial := min(c.Concurrency, cmp.Or(c.InitialLimit, c.Concurrency))
	for _, u := range c.URLs {
		g.servers = append(g.servers, &server{
			url:      u,
			route:    c.route(u),
			maxLimit: float64(c.Concurrency),
			limit:    float64(initial),
		})
	}
	return g
}

// enter waits for a slot, at another server than avoid if one has capacity. Requests with
// the same affinity, unless it is 0, go to the same server while it has capacity, because
// its cache holds their common prefix. The error is ctx's cause, or a *Fault if every
// server is down, or if all pause beyond ctx's deadline.
func (g *gate) enter(
	ctx context.Context,
	avoid *server,
	affinity uint64,
) (slot, error) {
	if ctx.Err() != nil {
		return slot{}, context.Cause(ctx)
	}
	g.mu.Lock()
	if fault := g.pauseFault(ctx); fault != nil {
		g.mu.Unlock()
		return slot{}, fault
	}
	w := &waiter{
		avoid:    avoid,
		affinity: affinity,
		done:     make(chan struct{}),
	}
	element := g.waiting.PushBack(w)
	g.admit()
	g.mu.Unlock()

	select {
	case <-w.done:
	case <-ctx.Done():
		return slot{}, g.giveUp(ctx, element, w)
	}
	if w.fault != nil {
		return slot{}, w.fault
	}
	return w.slot, nil
}

// pauseFault returns a fault if all servers pause beyond ctx's deadline, else nil.
func (g *gate) pauseFault(ctx context.Context) *Fault {
	deadline, ok := ctx.Deadline()
	if !ok || slices.ContainsFunc(g.servers, func(s *server) bool { return !s.pausedTill.After(deadline) }) {
		return nil
	}
	return &Fault{
		Kind:       Limited,
		Reason:     "paused",
		RetryAfter: g.servers[0].pausedTill.Sub(g.now()),
		Detail:     "the server asked for a pause that is longer than the deadline",
	}
}

// giveUp removes a waiter whose context ended, and returns ctx's cause. A slot that was
// granted in the meantime is released.
func (g *gate) giveUp(
	ctx context.Context,
	element *list.Element,
	w *waiter,
) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.done:
		if w.slot.server != nil {
			w.slot.busy--
		}
	default:
		g.waiting.Remove(element)
	}
	g.admit()
	return context.Cause(ctx)
}

// leave releases the slot of a finished request. f is nil if the request was answered. Its
// kind is Withdrawn if the server did not have to answer.
func (g *gate) leave(t slot, f *Fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	t.busy--
	switch {
	case f == nil:
		t.resetMisses()
		t.increase()
	case f.Kind == Withdrawn:
	case f.overload:
		t.resetMisses()
		t.decrease(t.falls)
	case f.isTemporary() && (f.timedOut || !g.breaker.OnlyTimeouts):
		t.recordMiss(g.breaker, now, f.unreachable)
	default:
		t.resetMisses()
	}
	if f != nil && f.RetryAfter > 0 && now.Add(f.RetryAfter).After(t.pausedTill) {
		t.pausedTill = now.Add(f.RetryAfter)
	}
	g.admit()
}

// admit assigns slots to waiting requests, or fails them if they can never get one. The
// caller holds g.mu.
func (g *gate) admit() {
	for g.waiting.Len() > 0 {
		front := g.waiting.Front()
		w, _ := front.Value.(*waiter)
		s, wait, fault := g.choose(w.avoid, w.affinity)
		if s == nil && fault == nil {
			g.wakeAfter(wait)
			return
		}
		w.fault = fault
		if s != nil {
			s.busy++
			w.slot = slot{s, s.falls}
		}
		g.waiting.Remove(front)
		close(w.done)
	}
}

// wakeAfter runs admit after d, never if d is 0. The caller holds g.mu.
func (g *gate) wakeAfter(d time.Duration) {
	if g.wake != nil {
		g.wake.Stop()
	}
	if d <= 0 {
		return
	}
	g.wake = time.AfterFunc(d, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.admit()
	})
}

// choose returns the server for the next request. If there is none, it returns the time
// until one may be available, which is 0 if only an answer can free a slot, or a fault if
// there will be none. A server that is down is still tried now and then while others
// answer, since it may come back.
func (g *gate) choose(avoid *server, affinity uint64) (best *server, wait time.Duration, fault *Fault) {
	now := g.now()
	anyHealthy := slices.ContainsFunc(g.servers, g.healthy)
	down := 0
	setAside := 0
	for _, s := range g.servers {
		availableAt := s.pausedTill
		if g.isSetAside(s, anyHealthy) {
			setAside++
			if s.retryAt.After(availableAt) {
				availableAt = s.retryAt
			}
		}
		switch {
		case g.isDown(s, now) && !anyHealthy:
			down++
		case availableAt.After(now):
			if remaining := availableAt.Sub(now); wait == 0 || remaining < wait {
				wait = remaining
			}
		case g.isFull(s, anyHealthy):
		case best == nil || g.load(s, avoid, affinity) < g.load(best, avoid, affinity):
			best = s
		}
	}
	switch {
	case best != nil:
	case down == len(g.servers):
		fault = &Fault{
			Kind:   Network,
			Reason: reasonServerDown,
			Detail: "no connection for " + g.patience.String(),
		}
	case setAside == len(g.servers) && g.breaker.FailFast:
		fault = &Fault{Kind: Network, Reason: "set_aside", Detail: "the server is set aside: its last requests got no reply within the time-out"}
	}
	return best, wait, fault
}

// reasonServerDown is the reason of the fault if all servers are down.
const reasonServerDown = "server_down"

// hasOtherHealthy reports whether a healthy server other than s exists.
func (g *gate) hasOtherHealthy(s *server) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.servers, func(other *server) bool {
		return other != s && g.healthy(other)
	})
}
