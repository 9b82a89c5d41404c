package client

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// gate lets requests through: at most limit at once, none while the server
// asked for a pause or is set aside. The limit doubles each round trip until
// the server first says that it is too much, then halves whenever it says so and
// grows by one each round trip (additive increase, multiplicative decrease).
type gate struct {
	mu   sync.Mutex
	most float64
	// limit is how many may be in flight, busy how many are.
	limit float64
	busy  int
	// halvings counts decreases: a request that started before the last one
	// says nothing new.
	halvings int
	// until is when the server's pause ends.
	until time.Time
	// waiting holds a *waiter for each who has no turn yet.
	waiting *list.List
	now     func() time.Time
	breaker breaker
}

// waiter is somebody who waits for a turn. Turn is closed when it comes, or
// when the server is set aside.
type waiter struct {
	turn  chan struct{}
	aside bool
}

// firstLimit is where a gate starts: enough to learn fast, few enough not to
// hit a small server with a wall.
const firstLimit = 4

func newGate(most int, now func() time.Time) *gate {
	return &gate{most: float64(most), limit: min(firstLimit, float64(most)), waiting: list.New(), now: now}
}

// pass is the leave for one request.
type pass struct {
	halvings int
	// probe finds out if a server that was set aside is back.
	probe bool
}

// end is how a request ended.
type end struct {
	// overload reports whether the server had too many, pause that it wants none for a
	// while.
	overload bool
	pause    time.Duration
	// silent reports whether all its time passed without a reply.
	silent bool
}

// enter waits for its turn. Where the server is set aside, or wants a longer
// pause than ctx has time for, it says so at once.
func (g *gate) enter(ctx context.Context) (pass, error) {
	g.mu.Lock()
	if deadline, ok := ctx.Deadline(); ok && g.until.After(deadline) {
		left := g.until.Sub(g.now())
		g.mu.Unlock()
		return pass{}, &Fault{Kind: Limited, RetryAfter: left, Detail: "the server asked for a pause that is longer than the deadline"}
	}
	if g.breaker.open(g.now()) {
		g.mu.Unlock()
		return pass{}, asideFault()
	}
	p := pass{probe: g.breaker.probe()}
	w := &waiter{turn: make(chan struct{})}
	at := g.waiting.PushBack(w)
	g.admit()
	g.mu.Unlock()
	select {
	case <-w.turn:
	case <-ctx.Done():
		return pass{}, g.giveUp(ctx, p, at)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.aside {
		g.breaker.unsent(p)
		return pass{}, asideFault()
	}
	p.halvings = g.halvings
	return p, nil
}

// setAside tells a server that is set aside from one that may be asked.
func (g *gate) setAside() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.breaker.open(g.now())
}

func (g *gate) giveUp(ctx context.Context, p pass, at *list.Element) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	w, _ := at.Value.(*waiter)
	select {
	case <-w.turn:
		if !w.aside {
			g.busy--
		}
	default:
		g.waiting.Remove(at)
	}
	g.breaker.unsent(p)
	g.admit()
	return context.Cause(ctx)
}

// pass gives a turn to the next without a request.
func (g *gate) pass(p pass) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy--
	g.breaker.unsent(p)
	g.admit()
}

// leave ends a request.
func (g *gate) leave(p pass, e end) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy--
	switch {
	case e.overload && p.halvings == g.halvings:
		g.halvings++
		g.limit = max(1, g.limit/2)
	case e.overload:
	case g.halvings == 0:
		g.limit = min(g.most, g.limit+1)
	default:
		g.limit = min(g.most, g.limit+1/g.limit)
	}
	if until := g.now().Add(e.pause); e.pause > 0 && until.After(g.until) {
		g.until = until
		time.AfterFunc(e.pause, g.resume)
	}
	if g.breaker.ended(p, e.silent, g.now()) {
		g.refuse()
	}
	g.admit()
}

// refuse sends everybody away who waits. The lock is held.
func (g *gate) refuse() {
	for g.waiting.Len() > 0 {
		w, _ := g.waiting.Remove(g.waiting.Front()).(*waiter)
		w.aside = true
		close(w.turn)
	}
}

func (g *gate) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admit()
}

// admit calls up whoever may go, in the order of arrival. The lock is held.
func (g *gate) admit() {
	for !g.now().Before(g.until) && g.busy < int(g.limit) && g.waiting.Len() > 0 {
		w, _ := g.waiting.Remove(g.waiting.Front()).(*waiter)
		g.busy++
		close(w.turn)
	}
}
