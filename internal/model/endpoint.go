package model

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Endpoint is one server as its user configures it.
type Endpoint struct {
	Name string `yaml:"name"`
	// BaseURL is the address as OpenAI clients take it, usually ending in /v1.
	BaseURL string `yaml:"base_url"`
	// KeyEnv names the environment variable that holds the key; empty for a
	// server without one.
	KeyEnv string `yaml:"key_env,omitempty"`
	// Headers are sent with every request. A value of the form $NAME is taken
	// from the environment.
	Headers map[string]string `yaml:"headers,omitempty"`
	// ExtraBody is merged into every request; null takes a field out.
	ExtraBody map[string]any `yaml:"extra_body,omitempty"`
	// Concurrency is the most requests in flight; fewer where the server says
	// that it has too many.
	Concurrency int `yaml:"concurrency"`
	// PlainText asks for no structured output, for a server that takes the
	// request and then answers nothing useful.
	PlainText bool `yaml:"plain_text,omitempty"`
}

// Validate names everything that cannot be used, all at once.
func (e Endpoint) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("endpoint %q: "+format, append([]any{e.Name}, args...)...))
	}
	switch a, err := newAddress(e.BaseURL); {
	case err != nil:
		bad("base_url %q: want http://… or https://…", bare(e.BaseURL))
	case a.user != nil, a.query != "":
		bad("base_url holds a user or a query: keys come from the environment (key_env, headers)")
	}
	if e.Concurrency < 1 {
		bad("concurrency is %d: want at least 1", e.Concurrency)
	}
	for _, field := range slices.Sorted(maps.Keys(e.ExtraBody)) {
		if slices.Contains([]string{"model", "messages", "stream", "n"}, field) {
			bad("extra_body.%s cannot be set: it is part of the question", field)
		}
	}
	return errors.Join(errs...)
}

// resolve gives the endpoint's key and headers, and of the headers those that are
// secret, from the environment.
func (e Endpoint) resolve() (key string, headers map[string]string, hidden []string, err error) {
	headers = map[string]string{}
	var errs []error
	need := func(name string) string {
		value := os.Getenv(name)
		if value == "" {
			errs = append(errs, fmt.Errorf("endpoint %q: environment variable %s is not set", e.Name, name))
		}
		return value
	}
	if e.KeyEnv != "" {
		key = need(e.KeyEnv)
	}
	for _, header := range slices.Sorted(maps.Keys(e.Headers)) {
		value := e.Headers[header]
		if name, secret := strings.CutPrefix(value, "$"); secret {
			value = need(name)
			hidden = append(hidden, value)
		}
		headers[header] = value
	}
	return key, headers, hidden, errors.Join(errs...)
}

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
