package model

import "time"

// server is one server's state. Its limit doubles with each round of answers
// until the server first says that it is too much; from then on it halves
// whenever the server says so, and rises by one a round (additive increase,
// multiplicative decrease).
type server struct {
	url         string
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

func newServer(url string, c Config) *server {
	s := &server{url: url, most: float64(c.Concurrency), limit: float64(c.Concurrency)}
	if c.First > 0 {
		s.limit = min(s.most, float64(c.First))
	}
	return s
}

// fall halves the limit for a request that was sent when it had fallen as often
// as now.
func (s *server) fall(falls int) {
	if falls == s.falls {
		s.falls++
		s.limit, s.settled, s.round = max(1, s.limit/2), true, 0
	}
}

// done counts an answer.
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
