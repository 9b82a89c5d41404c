package endpoint

import (
	"context"
	"slices"
	"sync"
	"time"
)

// gate lets requests through to the endpoint with most room and keeps each
// endpoint's limit. A limit starts at the configured concurrency, because a
// run is short and its owner knows the server; it halves when the server says
// that this is too much, and rises again as long as that brings throughput.
type gate struct {
	mu      sync.Mutex
	now     func() time.Time
	servers []*server
	// changed is closed and replaced whenever room may have appeared.
	changed chan struct{}
}

// server is one endpoint's state.
type server struct {
	url      string
	most     float64
	limit    float64
	inFlight int

	// A window is as many answers as the limit is large, mark the throughput
	// that the next one has to beat.
	windowFrom time.Time
	windowDone int
	mark       float64
	lastFall   time.Time
	// queue is how many requests the server kept waiting when it was last asked.
	queue int

	// misses counts tries in a row that brought no answer of any kind. downFrom
	// is the first of those whose connection failed, openAt when to try again.
	misses   int
	downFrom time.Time
	openAt   time.Time
}

const (
	// fallEvery keeps the many refusals of one overload from halving twice.
	fallEvery = time.Second
	// worthwhile is the part of the throughput that a rise could bring at most
	// that justifies the next one; less is noise.
	worthwhile = 0.5
	// breakAfter misses in a row mean that the server is not there, or answers
	// nobody; it is tried again after a pause, and given up where no connection
	// could be made for deadAfter.
	breakAfter = 5
	pause      = 500 * time.Millisecond
	deadAfter  = 10 * time.Second
)

func newGate(c Config) *gate {
	g := &gate{now: c.Now, changed: make(chan struct{})}
	for _, u := range c.URLs {
		g.servers = append(g.servers, &server{url: u, most: float64(c.Concurrency), limit: float64(c.Concurrency), windowFrom: c.Now()})
	}
	return g
}

// enter waits for room, elsewhere than at avoid where there is some. The error
// is ctx's, or an *Infra if every server is down for good.
func (g *gate) enter(ctx context.Context, avoid *server) (*server, error) {
	for ctx.Err() == nil {
		g.mu.Lock()
		s, wait, dead := g.choose(avoid)
		if s != nil {
			s.inFlight++
			g.mu.Unlock()
			return s, nil
		}
		changed := g.changed
		g.mu.Unlock()
		if dead {
			return nil, &Infra{Reason: "server_down", Detail: "no connection for " + deadAfter.String()}
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return nil, ctx.Err()
}

// choose gives the server with most room, or how long to wait for one. A server
// that is down is asked now and then as long as others answer: it may come back.
func (g *gate) choose(avoid *server) (best *server, wait time.Duration, dead bool) {
	now := g.now()
	others := slices.ContainsFunc(g.servers, (*server).whole)
	wait, dead = time.Minute, !others
	for _, s := range g.servers {
		if s.down(now) && !others {
			continue
		}
		dead = false
		if s.aside(others) && s.openAt.After(now) {
			wait = min(wait, s.openAt.Sub(now))
			continue
		}
		if !s.full(others) && (best == nil || s.load(avoid) < best.load(avoid)) {
			best = s
		}
	}
	return best, wait, dead
}

// whole reports whether nothing is known against the server.
func (s *server) whole() bool { return s.misses < breakAfter }

func (s *server) down(now time.Time) bool {
	return !s.whole() && !s.downFrom.IsZero() && now.Sub(s.downFrom) >= deadAfter
}

// aside: a server that does not answer is asked by one request at a time, and
// seldom, if there are others, or if nothing listens there. One that is alone and
// slower than the time-out gets all requests: one at a time would take for ever.
func (s *server) aside(others bool) bool {
	return !s.whole() && (others || !s.downFrom.IsZero())
}

func (s *server) full(others bool) bool {
	if s.aside(others) {
		return s.inFlight > 0
	}
	return float64(s.inFlight) >= max(1, s.limit)
}

// load prefers servers with room. One that was set aside and may be tried again
// is tried at once, or those with room would keep it from ever being asked; and
// the server that failed the last try of a request is its last choice.
func (s *server) load(avoid *server) float64 {
	const first, last = -1, 1
	switch {
	case s == avoid:
		return last
	case !s.whole():
		return first
	}
	return float64(s.inFlight) / max(1, s.limit)
}

func (g *gate) leave(s *server, a *attempt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	s.inFlight--
	switch {
	case a.gone:
	case a.overloaded():
		s.answered()
		s.fall(now)
	case a.judge() == retry:
		s.missed(now, a.unreachable())
	default:
		s.answered()
		s.done(now)
	}
	close(g.changed)
	g.changed = make(chan struct{})
}

func (s *server) answered() { s.misses, s.downFrom = 0, time.Time{} }

func (s *server) missed(now time.Time, unreachable bool) {
	s.misses++
	if unreachable && s.downFrom.IsZero() {
		s.downFrom = now
	}
	switch {
	case s.down(now):
		s.openAt = now.Add(deadAfter)
	case !s.whole():
		s.openAt = now.Add(pause)
	}
}

func (s *server) fall(now time.Time) {
	if now.Sub(s.lastFall) < fallEvery {
		return
	}
	s.limit = max(1, s.limit/2)
	s.lastFall, s.mark = now, 0
	s.windowFrom, s.windowDone = now, 0
}

// done counts an answer; at the end of a window the limit rises by one if the
// last rise paid. Else the mark comes down half the way: a window of quick
// answers is luck, and must not keep the limit low for the rest of a run.
func (s *server) done(now time.Time) {
	s.windowDone++
	if s.limit >= s.most || float64(s.windowDone) < s.limit {
		return
	}
	rate := float64(s.windowDone) / max(now.Sub(s.windowFrom).Seconds(), 1e-9)
	if rate > s.mark*(1+worthwhile/s.limit) {
		s.limit, s.mark = min(s.most, s.limit+1), rate
	} else {
		s.mark = (s.mark + rate) / 2
	}
	s.windowFrom, s.windowDone = now, 0
}

// others reports whether the run can go on without a server.
func (g *gate) others(than *server) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.servers, func(s *server) bool { return s != than && s.whole() })
}

// queued tells how many requests the server of this URL keeps waiting. What was
// there the last time as well is no burst that the server is about to take in:
// the limit falls to what it works on, which is the same however often one queue
// is told of.
func (g *gate) queued(url string, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.servers {
		if s.url != url {
			continue
		}
		if lasting := min(s.queue, waiting); lasting > 0 {
			s.limit, s.mark = max(1, min(s.limit, float64(s.inFlight-lasting))), 0
		}
		s.queue = waiting
	}
}

func (g *gate) limits() []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]int, len(g.servers))
	for i, s := range g.servers {
		out[i] = int(s.limit)
	}
	return out
}
