package model

import (
	"cmp"
	"container/list"
	"context"
	"slices"
	"sync"
	"time"
)

// gate schedules requests in the order of their arrival. Each request is sent to the server with
// the lowest load. A server never has more requests in flight than its limit, and gets none
// while it pauses or is set aside.
type gate struct {
	mu      sync.Mutex
	now     func() time.Time
	breaker Breaker
	// patience is how long connections to a server must fail until it counts as down.
	patience time.Duration
	servers  []*server
	// waiting has a *waiter for each request that waits for a server.
	waiting *list.List
	// answered is the time of the last answer from any server.
	answered time.Time
	// wake calls admit when the pause of a server is over.
	wake *time.Timer
}

// waiter is a request that waits for a slot, the right to be sent. done is closed when slot or
// fault is set.
type waiter struct {
	avoid    *server
	affinity uint64
	done     chan struct{}
	slot     slot
	fault    *Fault
}

// slot is the right to send one request to a server. falls is the value of server.falls (how often
// its limit was halved) when the slot was granted.
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

// enter waits for a slot, the right to send one request, if possible at another server than
// avoid. Requests with the same affinity (unless it is 0) go to the same server while it has
// capacity, because its cache has their common prefix. The error is ctx's cause, or a *Fault if
// every server is down or all pause beyond the deadline of ctx.
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

// pauseFault returns a fault if all servers pause beyond the deadline of ctx. Otherwise it
// returns nil.
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

// giveUp removes a waiting request whose context has ended from the queue, and returns the cause.
// If a slot was granted to the request in the meantime, giveUp releases the slot.
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

// leave releases the slot (the right to send) of a finished request and adjusts the server's
// limit, misses and pause. f is nil if the request was answered. A fault of kind Withdrawn shows
// nothing about the server and does not change its limit or misses.
func (g *gate) leave(t slot, f *Fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	t.busy--
	switch {
	case f == nil:
		g.answered = now
		t.resetMisses()
		t.increase()
	case f.Kind == Withdrawn:
	case f.overload:
		t.resetMisses()
		t.decrease(t.falls)
	case f.isTemporary() && (f.timedOut || !g.breaker.OnlyTimeouts):
		t.recordMiss(g.breaker, now, f.unreachable)
		if f.timedOut { // fewer requests at once may each be answered in time
			t.decrease(t.falls)
		}
	default:
		t.resetMisses()
	}
	if f != nil && f.RetryAfter > 0 && now.Add(f.RetryAfter).After(t.pausedTill) {
		t.pausedTill = now.Add(f.RetryAfter)
	}
	g.admit()
}

// admit assigns slots at servers to the waiting requests in order, as long as a server is
// available. A request fails if no server will be available. The caller must hold g.mu.
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

// wakeAfter schedules a call of admit after d and cancels an earlier one. If d is 0, it only
// cancels. The caller must hold g.mu.
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

// choose returns the server for the next request. If none is available now, it returns the time
// until one may be; 0 means that a request in flight must end first. A fault means that none
// will be available. A server that is down is still tried now and then while others answer,
// since it may recover.
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

// reasonServerDown is Fault.Reason if no connection to any server can be made.
const reasonServerDown = "server_down"

// endOfPatience returns the fault of a request that has waited since the given time for a server
// that does not answer. If no server has answered any request since then, the fault is that all
// servers are down. Otherwise it is f, the fault of this request.
func (g *gate) endOfPatience(f *Fault, since time.Time) *Fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.answered.After(since) {
		return f
	}
	return &Fault{
		Kind:   Network,
		Reason: reasonServerDown,
		Detail: "no answer for " + g.patience.String() + ": " + f.Error(),
	}
}

// hasOtherHealthy reports whether there is a healthy server other than s.
func (g *gate) hasOtherHealthy(s *server) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.servers, func(other *server) bool {
		return other != s && g.healthy(other)
	})
}
