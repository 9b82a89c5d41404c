package model

import "time"

// Breaker is the configuration of when a server that does not answer is set aside, so that not
// every request waits for a time-out. A server that is set aside gets one request at a time, to
// find out whether it has recovered.
type Breaker struct {
	// After is the number of consecutive misses after which a server is set aside. A miss is a
	// try without a readable reply. The value 0 means five misses and a Pause of half a second.
	After int
	// Pause is the time between two tries of a server that is set aside.
	Pause time.Duration
	// OnlyTimeouts reports whether only tries that used all of their time count as misses. Other
	// failures cost little, since they end at once.
	OnlyTimeouts bool
	// FailFast reports whether all requests fail at once if every server is set aside, for
	// callers with another endpoint. Otherwise requests wait. If there is a single server that
	// is merely slow, it gets all requests until no connection could be made for ten seconds.
	FailFast bool
}

// defaultPatience is how long connections to a server must fail until the server counts as down,
// unless Config.Patience is set. A server that is down is tried at this interval.
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

// isDown reports whether a server counts as down: it is not healthy, and at least g.patience has
// passed since the first failed connection after its last reply.
func (g *gate) isDown(s *server, now time.Time) bool {
	return !g.healthy(s) && !s.downSince.IsZero() && now.Sub(s.downSince) >= g.patience
}

// isSetAside reports whether a server that is not healthy gets only one request at a time. This is
// so if another server is healthy, if requests should fail fast, or if no connection to the server
// can be made. Otherwise a single server that is merely slow still gets all requests, since one at
// a time would take forever.
func (g *gate) isSetAside(s *server, othersHealthy bool) bool {
	return !g.healthy(s) && (othersHealthy || g.breaker.FailFast || !s.downSince.IsZero())
}

// isFull reports whether a server has as many requests in flight as allowed: one if it is set
// aside, otherwise its limit.
func (g *gate) isFull(s *server, othersHealthy bool) bool {
	if g.isSetAside(s, othersHealthy) {
		return s.busy > 0
	}
	return s.busy >= int(max(1, s.limit))
}

// load returns the rank of a server for the next request, which is sent to the server with the
// lowest rank. A server that is set aside and may be tried again comes first, since it would
// otherwise never be tried. Then comes the server that affinity, if it is not 0, selects, then the
// one with the smallest share of its limit in flight. The server avoid, at which the previous try
// of the request failed, comes last.
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

// server is the state of one server. Its limit of requests in flight doubles with each round of
// answers until the server first reports overload. From then on, each overload halves the limit
// and each round adds one (additive increase, multiplicative decrease).
type server struct {
	url      string
	route    route
	maxLimit float64
	limit    float64
	busy     int
	// hasFallen reports whether the server has reported overload before. falls is the number of
	// times that the limit was halved. If a request was sent before the last halving, its
	// overload is ignored.
	hasFallen bool
	falls     int
	// round counts the answers since the limit last changed.
	round int
	// pausedTill is the end of the pause that the server requested.
	pausedTill time.Time
	// misses counts consecutive tries without a reply.
	misses int
	// downSince is the time of the first miss without a connection.
	downSince time.Time
	// retryAt is the time of the next try if the server is set aside.
	retryAt time.Time
}

// decrease reduces the limit of requests in flight to half after an overload. It does nothing if
// the limit was already halved after the request was sent. falls is the value of s.falls when
// the request was sent.
func (s *server) decrease(falls int) {
	if falls != s.falls {
		return
	}
	s.falls++
	s.limit = max(1, s.limit/2)
	s.hasFallen = true
	s.round = 0
}

// increase counts an answer. Before the first overload, every answer raises the limit of
// requests in flight by one. Afterwards, a round of as many answers as the limit raises it by
// one.
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
