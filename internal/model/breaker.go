package model

import "time"

// Breaker configures when a server that does not answer is set aside, so that not every
// request waits for a time-out. A server that is set aside gets one request at a time,
// to find out whether it is back.
type Breaker struct {
	// After is the number of consecutive misses after which a server is set aside. A
	// miss is a try without a readable reply. 0 means five misses and a Pause of half a
	// second.
	After int
	// Pause is the time between two tries of a server that is set aside.
	Pause time.Duration
	// OnlyTimeouts counts only tries that used all of their time as misses. Other
	// failures end at once and cost little.
	OnlyTimeouts bool
	// FailFast fails all requests at once if every server is set aside, for callers with
	// another endpoint. Without it, requests wait, or all go to a single server that is
	// merely slow, until no connection could be made for ten seconds.
	FailFast bool
}

// defaultPatience is the time for which connections to a server must fail until the server counts
// as down, unless Config.Patience is set. After that time it is also the pause between two tries.
const defaultPatience = 10 * time.Second

func (b Breaker) withDefaults() Breaker {
	if b.After == 0 {
		b.After = 5
		b.Pause = 500 * time.Millisecond
	}
	return b
}

// healthy reports whether a server has fewer consecutive misses (tries without a reply) than the
// breaker allows.
func (g *gate) healthy(s *server) bool { return s.misses < g.breaker.After }

// isDown reports whether a server is not healthy and no connection to it could be made for
// g.patience.
func (g *gate) isDown(s *server, now time.Time) bool {
	return !g.healthy(s) && !s.downSince.IsZero() && now.Sub(s.downSince) >= g.patience
}

// isSetAside reports whether a server gets only one request at a time. This applies to a server
// that is not healthy, if another server is healthy, if requests should fail fast, or if no
// connection to the server can be made. A single server that is merely slow still gets all
// requests: one at a time would take forever.
func (g *gate) isSetAside(s *server, othersHealthy bool) bool {
	return !g.healthy(s) && (othersHealthy || g.breaker.FailFast || !s.downSince.IsZero())
}

// isFull reports whether a server has as many requests in flight as it may have: one if it is set
// aside, otherwise its limit.
func (g *gate) isFull(s *server, othersHealthy bool) bool {
	if g.isSetAside(s, othersHealthy) {
		return s.busy > 0
	}
	return s.busy >= int(max(1, s.limit))
}

// load returns the rank of a server for the next request; the server with the lowest rank is
// chosen. A server that was set aside and may be tried again is first, since it would otherwise
// never be tried. The server avoid, at which the last try of the request failed, is last.
func (g *gate) load(s, avoid *server, affinity uint64) float64 {
	const (
		rankProbe    = -2
		rankAffinity = -1
		rankAvoid    = 1
	)
	switch {
	case s == avoid:
		return rankAvoid
	case !g.healthy(s):
		return rankProbe
	case affinity != 0 && s == g.servers[affinity%uint64(len(g.servers))]:
		return rankAffinity
	}
	return float64(s.busy) / max(1, s.limit)
}

// server is the state of one server. Its limit of requests in flight doubles with each
// round of answers until the server first reports overload. From then on the limit is
// halved at each overload and grows by one per round (additive increase, multiplicative
// decrease).
type server struct {
	url      string
	route    route
	maxLimit float64
	limit    float64
	busy     int
	// hasFallen reports whether the server has reported overload before. falls counts
	// the halvings: overload of a request sent before the last halving is ignored.
	hasFallen bool
	falls     int
	// round counts the answers since the limit last changed.
	round int
	// pausedTill is the end of the pause that the server asked for.
	pausedTill time.Time
	// misses counts consecutive tries without a reply.
	misses int
	// downSince is the time of the first of the misses without a connection.
	downSince time.Time
	// retryAt is the time of the next try of a server that is set aside.
	retryAt time.Time
}

// decrease sets the limit of requests in flight to its half after an overload, unless that happened
// since the request was sent. falls is the value that s.falls had then.
func (s *server) decrease(falls int) {
	if falls != s.falls {
		return
	}
	s.falls++
	s.limit = max(1, s.limit/2)
	s.hasFallen = true
	s.round = 0
}

// increase counts an answer. It raises the limit of requests in flight by one with every answer or,
// after the first overload, with every round of as many answers as the limit.
func (s *server) increase() {
	s.round++
	roundDone := !s.hasFallen || float64(s.round) >= s.limit
	if s.limit < s.maxLimit && roundDone {
		s.limit = min(s.maxLimit, s.limit+1)
		s.round = 0
	}
}

func (s *server) resetMisses() {
	s.misses = 0
	s.downSince = time.Time{}
}

// recordMiss counts a try without a reply and sets the time of the next try. unreachable reports
// whether no connection could be made.
func (s *server) recordMiss(b Breaker, now time.Time, unreachable bool) {
	s.misses++
	if unreachable && s.downSince.IsZero() {
		s.downSince = now
	}
	s.retryAt = now.Add(b.Pause)
	if !s.downSince.IsZero() && now.Sub(s.downSince) >= defaultPatience {
		s.retryAt = now.Add(defaultPatience)
	}
}
