package endpoint

import (
	"context"
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

	// A window is as many answers as the limit is large.
	windowFrom time.Time
	windowDone int
	lastRate   float64
	lastFall   time.Time

	// unreachable counts failed connections in a row, the first at downFrom.
	unreachable int
	downFrom    time.Time
	openAt      time.Time
}

const (
	// fallEvery keeps the many refusals of one overload from halving twice.
	fallEvery = time.Second
	// worthwhile is the growth of throughput that justifies a higher limit;
	// less is noise.
	worthwhile = 1.01
	// breakAfter failed connections in a row mean that the server is not there;
	// it is tried again after a pause, and given up after deadAfter.
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

// enter waits for room. The error is ctx's, or an *Infra if every server is
// down for good.
func (g *gate) enter(ctx context.Context) (*server, error) {
	for {
		g.mu.Lock()
		s, wait, dead := g.choose()
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
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// choose gives the server with most room, or how long to wait for one.
func (g *gate) choose() (best *server, wait time.Duration, dead bool) {
	wait, dead = time.Minute, true
	now := g.now()
	for _, s := range g.servers {
		if s.down(now) {
			continue
		}
		dead = false
		if s.openAt.After(now) {
			wait = min(wait, s.openAt.Sub(now))
			continue
		}
		if !s.full() && (best == nil || s.load() < best.load()) {
			best = s
		}
	}
	return best, wait, dead
}

func (s *server) down(now time.Time) bool {
	return s.unreachable >= breakAfter && now.Sub(s.downFrom) >= deadAfter
}

// full: a server that could not be reached is tried by one request at a time.
func (s *server) full() bool {
	if s.unreachable >= breakAfter {
		return s.inFlight > 0
	}
	return float64(s.inFlight) >= max(1, s.limit)
}

// load prefers servers with room, and of those the ones that were there the
// last time.
func (s *server) load() float64 { return float64(s.inFlight)/s.limit + float64(s.unreachable) }

func (g *gate) leave(s *server, a *attempt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	s.inFlight--
	switch {
	case a.unreachable():
		s.missed(now)
	case a.overloaded():
		s.unreachable = 0
		s.fall(now)
	default:
		s.unreachable = 0
		s.done(now)
	}
	close(g.changed)
	g.changed = make(chan struct{})
}

func (s *server) missed(now time.Time) {
	if s.unreachable == 0 {
		s.downFrom = now
	}
	s.unreachable++
	if s.unreachable >= breakAfter {
		s.openAt = now.Add(pause)
	}
}

func (s *server) fall(now time.Time) {
	if now.Sub(s.lastFall) < fallEvery {
		return
	}
	s.limit = max(1, s.limit/2)
	s.lastFall, s.lastRate = now, 0
	s.windowFrom, s.windowDone = now, 0
}

// done counts an answer; at the end of a window the limit rises by one if the
// last rise paid.
func (s *server) done(now time.Time) {
	s.windowDone++
	if s.limit >= s.most || float64(s.windowDone) < s.limit {
		return
	}
	rate := float64(s.windowDone) / max(now.Sub(s.windowFrom).Seconds(), 1e-9)
	if rate > s.lastRate*worthwhile {
		s.limit, s.lastRate = min(s.most, s.limit+1), rate
	}
	s.windowFrom, s.windowDone = now, 0
}

// queued tells how many requests the server of this URL keeps waiting: more
// than its limit leaves room for means that the limit is too high.
func (g *gate) queued(url string, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.servers {
		if s.url == url && waiting > 0 {
			s.limit = max(1, s.limit-float64(waiting))
			s.lastRate = 0
		}
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
