package model

import (
	"cmp"
	"container/list"
	"context"
	"slices"
	"sync"
	"time"
)

// gate lets requests through, in the order of their arrival, to the server with
// most room: at most as many at once as its limit, none while it asked for a
// pause or is set aside.
type gate struct {
	mu      sync.Mutex
	now     func() time.Time
	breaker Breaker
	// patience is how long no connection can be made to a server that is down.
	patience time.Duration
	servers  []*server
	// waiting holds a *waiter for each who has no turn yet.
	waiting *list.List
	// wake calls the next one up when a pause is over.
	wake *time.Timer
}

// waiter is somebody who waits for a turn. Done is closed when it comes, or when
// it never will.
type waiter struct {
	avoid *server
	home  uint64
	done  chan struct{}
	turn  turn
	fault *Fault
}

type turn struct {
	*server
	falls int
}

func newGate(c Config) *gate {
	g := &gate{now: c.Now, breaker: c.Breaker.orUsual(), patience: cmp.Or(c.Patience, deadAfter), waiting: list.New()}
	most, first := float64(c.Concurrency), float64(min(c.Concurrency, cmp.Or(c.First, c.Concurrency)))
	for _, u := range c.URLs {
		g.servers = append(g.servers, &server{url: u, way: c.route(u), most: most, limit: first})
	}
	return g
}

// enter waits for a turn, elsewhere than at avoid where there is room. Those of one
// home, which 0 is none, get the same server as long as it has room: it holds what
// they have in common. The error
// is ctx's cause, or a *Fault: no server is there, or all want a longer pause
// than ctx has time for.
func (g *gate) enter(ctx context.Context, avoid *server, home uint64) (turn, error) {
	if ctx.Err() != nil {
		return turn{}, context.Cause(ctx)
	}
	g.mu.Lock()
	if fault := g.tooLong(ctx); fault != nil {
		g.mu.Unlock()
		return turn{}, fault
	}
	w := &waiter{avoid: avoid, home: home, done: make(chan struct{})}
	at := g.waiting.PushBack(w)
	g.admit()
	g.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
		return turn{}, g.giveUp(ctx, at, w)
	}
	if w.fault != nil {
		return turn{}, w.fault
	}
	return w.turn, nil
}

// tooLong is the fault of a pause that outlasts ctx; nil where none does.
func (g *gate) tooLong(ctx context.Context) *Fault {
	deadline, ok := ctx.Deadline()
	if !ok || slices.ContainsFunc(g.servers, func(s *server) bool { return !s.pausedTill.After(deadline) }) {
		return nil
	}
	left := g.servers[0].pausedTill.Sub(g.now())
	return &Fault{Kind: Limited, Reason: "paused", RetryAfter: left, Detail: "the server asked for a pause that is longer than the deadline"}
}

func (g *gate) giveUp(ctx context.Context, at *list.Element, w *waiter) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.done:
		if w.turn.server != nil {
			w.turn.busy--
		}
	default:
		g.waiting.Remove(at)
	}
	g.admit()
	return context.Cause(ctx)
}

// leave ends a request: f is nil where it was answered, and Unwanted where the server
// never had to answer.
func (g *gate) leave(t turn, f *Fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	t.busy--
	switch {
	case f == nil:
		t.answered()
		t.done()
	case f.Kind == Unwanted:
	case f.overload:
		t.answered()
		t.fall(t.falls)
	case f.passes() && (f.silent || !g.breaker.OnlySilent):
		t.missed(g.breaker, now, f.unreachable)
	default:
		t.answered()
	}
	if f != nil && f.RetryAfter > 0 && now.Add(f.RetryAfter).After(t.pausedTill) {
		t.pausedTill = now.Add(f.RetryAfter)
	}
	g.admit()
}

// admit calls up whoever may go, and sends away who never may. The lock is held.
func (g *gate) admit() {
	for g.waiting.Len() > 0 {
		front := g.waiting.Front()
		w, _ := front.Value.(*waiter)
		s, wait, fault := g.choose(w.avoid, w.home)
		if s == nil && fault == nil {
			g.wakeAfter(wait)
			return
		}
		if w.fault = fault; s != nil {
			s.busy++
			w.turn = turn{s, s.falls}
		}
		g.waiting.Remove(front)
		close(w.done)
	}
}

// wakeAfter calls waiters up when a pause is over; 0 is none. The lock is held.
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

// choose gives the server with most room, how long until one may have some (0
// where only an answer can make it), or why there will be none. A server that is
// down is asked now and then as long as others answer: it may come back.
func (g *gate) choose(avoid *server, home uint64) (best *server, wait time.Duration, fault *Fault) {
	now := g.now()
	others := slices.ContainsFunc(g.servers, g.whole)
	down, aside := 0, 0
	for _, s := range g.servers {
		opens := s.pausedTill
		if g.aside(s, others) {
			aside++
			if s.openAt.After(opens) {
				opens = s.openAt
			}
		}
		switch {
		case g.down(s, now) && !others:
			down++
		case opens.After(now):
			if left := opens.Sub(now); wait == 0 || left < wait {
				wait = left
			}
		case !g.full(s, others) && (best == nil || g.load(s, avoid, home) < g.load(best, avoid, home)):
			best = s
		}
	}
	switch {
	case best != nil:
	case down == len(g.servers):
		fault = &Fault{Kind: Network, Reason: away, Detail: "no connection for " + g.patience.String()}
	case aside == len(g.servers) && g.breaker.Refuses:
		fault = &Fault{Kind: Network, Reason: "set_aside", Detail: "the server is set aside: its last requests got no reply within the time-out"}
	}
	return best, wait, fault
}

// away is the reason of a fault for want of any server.
const away = "server_down"

func (g *gate) others(than *server) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.servers, func(s *server) bool { return s != than && g.whole(s) })
}
