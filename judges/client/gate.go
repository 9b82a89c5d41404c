package client

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// gate lets requests through: at most limit at once, none while the server
// asked for a pause. The limit doubles each round trip until the server first
// says that it is too much, then halves whenever it says so and grows by one
// each round trip (additive increase, multiplicative decrease).
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
	until   time.Time
	waiting *list.List
	now     func() time.Time
}

// firstLimit is where a gate starts: enough to learn fast, few enough not to
// hit a small server with a wall.
const firstLimit = 4

func newGate(most int, now func() time.Time) *gate {
	return &gate{most: float64(most), limit: min(firstLimit, float64(most)), waiting: list.New(), now: now}
}

// pass is the leave for one request.
type pass struct{ halvings int }

// enter waits for its turn. Where the server wants a longer pause than ctx
// has time for, it says so at once.
func (g *gate) enter(ctx context.Context) (pass, error) {
	g.mu.Lock()
	if deadline, ok := ctx.Deadline(); ok && g.until.After(deadline) {
		left := g.until.Sub(g.now())
		g.mu.Unlock()
		return pass{}, &Fault{Kind: Limited, RetryAfter: left, Detail: "the server asked for a pause that is longer than the deadline"}
	}
	turn := make(chan struct{})
	at := g.waiting.PushBack(turn)
	g.admit()
	g.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		return pass{}, g.giveUp(ctx, at, turn)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return pass{halvings: g.halvings}, nil
}

func (g *gate) giveUp(ctx context.Context, at *list.Element, turn chan struct{}) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-turn:
		g.busy--
		g.admit()
	default:
		g.waiting.Remove(at)
	}
	return context.Cause(ctx)
}

// pass gives a turn to the next without a request.
func (g *gate) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy--
	g.admit()
}

// leave ends a request. Overload says that the server had too many; pause that
// it wants none for a while.
func (g *gate) leave(p pass, overload bool, pause time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy--
	switch {
	case overload && p.halvings == g.halvings:
		g.halvings++
		g.limit = max(1, g.limit/2)
	case overload:
	case g.halvings == 0:
		g.limit = min(g.most, g.limit+1)
	default:
		g.limit = min(g.most, g.limit+1/g.limit)
	}
	if until := g.now().Add(pause); pause > 0 && until.After(g.until) {
		g.until = until
		time.AfterFunc(pause, g.resume)
	}
	g.admit()
}

func (g *gate) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admit()
}

// admit calls up whoever may go, in the order of arrival. The lock is held.
func (g *gate) admit() {
	for !g.now().Before(g.until) && g.busy < int(g.limit) && g.waiting.Len() > 0 {
		turn, _ := g.waiting.Remove(g.waiting.Front()).(chan struct{})
		g.busy++
		close(turn)
	}
}
