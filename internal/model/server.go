package model

import "time"

// server is one server's state. Its limit doubles with each round of answers
// until the server first says that it is too much; from then on it halves
// whenever the server says so, and rises by one a round as long as that brings
// throughput (additive increase, multiplicative decrease).
type server struct {
	url         string
	most, limit float64
	busy        int
	// settled reports whether the server has shown what it takes. falls counts
	// halvings: a request that was sent before the last one says nothing new.
	settled bool
	falls   int
	// A window is as many answers as the limit is large, mark the throughput
	// that the next one has to beat.
	windowFrom time.Time
	windowDone int
	mark       float64
	// queue is how many requests the server kept waiting when it was last asked.
	queue int
	// pausedTill is when the pause ends that the server asked for.
	pausedTill time.Time
	// misses counts tries in a row that brought no answer of any kind. downFrom
	// is the first of those whose connection failed, openAt when to try again.
	misses   int
	downFrom time.Time
	openAt   time.Time
}

func newServer(url string, c Config) *server {
	s := &server{url: url, most: float64(c.Concurrency), limit: float64(c.Concurrency), windowFrom: c.Now()}
	if c.First > 0 {
		s.limit = min(s.most, float64(c.First))
	}
	return s
}

// worthwhile is the part of the throughput that a rise could bring at most
// that justifies the next one; less is noise.
const worthwhile = 0.5

// fall halves the limit for a request that was sent when it had fallen as often
// as now.
func (s *server) fall(falls int, now time.Time) {
	if falls != s.falls {
		return
	}
	s.falls++
	s.limit, s.settled = max(1, s.limit/2), true
	s.mark, s.windowFrom, s.windowDone = 0, now, 0
}

// done counts an answer; at the end of a window the limit rises by one if the
// last rise paid. Else the mark comes down half the way: a window of quick
// answers is luck, and must not keep the limit low for good.
func (s *server) done(now time.Time) {
	s.windowDone++
	switch {
	case s.limit >= s.most:
		return
	case !s.settled:
		s.limit = min(s.most, s.limit+1)
		return
	case float64(s.windowDone) < s.limit:
		return
	}
	pace := float64(s.windowDone) / max(now.Sub(s.windowFrom).Seconds(), 1e-9)
	if pace > s.mark*(1+worthwhile/s.limit) {
		s.limit, s.mark = min(s.most, s.limit+1), pace
	} else {
		s.mark = (s.mark + pace) / 2
	}
	s.windowFrom, s.windowDone = now, 0
}

// queued takes in how many requests the server keeps waiting. What was there the
// last time as well is no burst that the server is about to take in: the limit
// falls to what it works on. Told again of the same queue it stays there.
func (s *server) queued(waiting int) {
	if lasting := min(s.queue, waiting); lasting > 0 {
		s.limit, s.mark, s.settled = max(1, min(s.limit, float64(s.busy-lasting))), 0, true
	}
	s.queue = waiting
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
