package model

import "time"

// Breaker says when a server that gives no answer is set aside, so that not
// every request costs a time-out there. One request at a time then looks if it is
// back.
type Breaker struct {
	// After is how many tries in a row must miss: no answer, or none that could be
	// read. 0 is five, with a Pause of half a second.
	After int
	// Pause is the time between two looks.
	Pause time.Duration
	// OnlySilent counts those alone whose whole time passed; others end at once
	// and cost little.
	OnlySilent bool
	// Refuses sends everybody away at once while no server is left, for callers
	// who can ask elsewhere. Else they wait, or all ask a server that is alone and
	// merely slow, until no connection could be made for ten seconds.
	Refuses bool
}

// deadAfter is how long no connection can be made to a server that is down where
// nobody is more patient, and then the time between two looks.
const deadAfter = 10 * time.Second

func (b Breaker) orUsual() Breaker {
	if b.After == 0 {
		b.After, b.Pause = 5, 500*time.Millisecond
	}
	return b
}

// whole reports whether nothing is known against a server.
func (g *gate) whole(s *server) bool { return s.misses < g.breaker.After }

func (g *gate) down(s *server, now time.Time) bool {
	return !g.whole(s) && !s.downFrom.IsZero() && now.Sub(s.downFrom) >= g.patience
}

// aside reports whether a server is asked by one request at a time, and seldom:
// it gives no answers, and there are others, or nothing listens there. One that is
// alone and slower than the time-out gets all: one at a time would take for ever.
func (g *gate) aside(s *server, others bool) bool {
	return !g.whole(s) && (others || g.breaker.Refuses || !s.downFrom.IsZero())
}

func (g *gate) full(s *server, others bool) bool {
	if g.aside(s, others) {
		return s.busy > 0
	}
	return s.busy >= int(max(1, s.limit))
}

// load prefers servers with room. One that was set aside and may be tried again
// is tried at once, or those with room would keep it from ever being asked; and
// the server that failed the last try of a request is its last choice.
func (g *gate) load(s, avoid *server, home uint64) float64 {
	const first, own, last = -2, -1, 1
	switch {
	case s == avoid:
		return last
	case !g.whole(s):
		return first
	case home != 0 && s == g.servers[home%uint64(len(g.servers))]:
		return own
	}
	return float64(s.busy) / max(1, s.limit)
}

// server is one server's state. Its limit doubles with each round of answers
// until the server first says that it is too much; from then on it halves
// whenever the server says so, and rises by one a round (additive increase,
// multiplicative decrease).
type server struct {
	url         string
	way         route
	most, limit float64
	busy        int
	// settled reports whether the server has shown what it takes. falls counts
	// halvings: a request that was sent before the last one says nothing new.
	settled bool
	falls   int
	// round counts the answers since the limit last changed.
	round int
	// pausedTill is when the pause ends that the server asked for.
	pausedTill time.Time
	// misses counts tries in a row that brought no answer of any kind. downFrom
	// is the first of those whose connection failed, openAt when to try again.
	misses   int
	downFrom time.Time
	openAt   time.Time
}

// fall halves the limit for a request that was sent when it had fallen as often
// as now.
func (s *server) fall(falls int) {
	if falls == s.falls {
		s.falls++
		s.limit, s.settled, s.round = max(1, s.limit/2), true, 0
	}
}

func (s *server) done() {
	if s.round++; s.limit < s.most && (!s.settled || float64(s.round) >= s.limit) {
		s.limit, s.round = min(s.most, s.limit+1), 0
	}
}

func (s *server) answered() { s.misses, s.downFrom = 0, time.Time{} }

func (s *server) missed(b Breaker, now time.Time, unreachable bool) {
	s.misses++
	if unreachable && s.downFrom.IsZero() {
		s.downFrom = now
	}
	s.openAt = now.Add(b.Pause)
	if !s.downFrom.IsZero() && now.Sub(s.downFrom) >= deadAfter {
		s.openAt = now.Add(deadAfter)
	}
}
