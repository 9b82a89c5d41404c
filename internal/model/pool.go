// Package model is a client for models on OpenAI-compatible servers. It uses several servers
// like one and adapts the number of requests in flight to what they accept. It limits tries and
// replies, obeys the pauses that servers request, and classifies every failure. No key appears
// in errors, replies or anything else that is stored.
package model

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/semaphore"

	"github.com/trajectory-arena/arena/internal/webclient"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Config is the configuration of a Pool.
type Config struct {
	// URLs are the base URLs of OpenAI-compatible servers, usually ending in /v1.
	URLs []string
	// Key is sent as the bearer token, unless it is empty.
	Key string
	// Headers are sent with every request.
	Headers map[string]string
	// Secrets are additional values that are removed from replies and errors. Key and the
	// secrets in URLs are always removed.
	Secrets []string
	// Concurrency is the maximum number of requests in flight at each server. InitialLimit is
	// the limit until the server has shown what it accepts; 0 means Concurrency.
	Concurrency, InitialLimit int
	// MaxReply is the maximum size of a chat completion in bytes. 0 means MaxChat.
	MaxReply int64
	// Timeout is the maximum time of one try.
	Timeout time.Duration
	// Retries is the number of tries after the first one. Wait is the first pause between two
	// tries.
	Retries int
	Wait    time.Duration
	// LongestPause is the maximum pause that a server may request; 0 means no maximum. A request
	// whose deadline is before the end of the pause fails at once.
	LongestPause time.Duration
	// Patience is how long to wait for servers that refuse or reset connections, are missing
	// behind a router, or limit the rate of requests. Tries during that time are not counted. 0
	// means ten seconds in which tries are counted.
	Patience time.Duration
	// OverflowWords are additional phrases with which servers report a prompt that is longer
	// than the model's context.
	OverflowWords []string
	// Breaker configures when a server that does not answer is set aside.
	Breaker Breaker
	// Transport replaces the transport of net/http, unless it is nil.
	Transport http.RoundTripper
	// Now is the clock for pauses and latencies. If it is nil, time.Now is used.
	Now func() time.Time
}

// Validate returns one error that joins everything that is wrong with the configuration, or nil.
func (c Config) Validate() error {
	var bad wrong.List
	bad.Unless(len(c.URLs) > 0, "no endpoint")
	for _, u := range c.URLs {
		_, err := newAddress(u)
		bad = append(bad, err)
	}
	bad.Unless(c.Concurrency >= 1, "concurrency must be 1 or more")
	bad.Unless(c.Timeout > 0, "timeout must be above 0")
	bad.Unless(c.Retries >= 0, "retries must be 0 or more")
	return bad.Err()
}

// Pool sends requests to a set of servers. Its methods are safe for concurrent use.
type Pool struct {
	config  Config
	gate    *gate
	secrets secrets
	// large limits the memory for large replies (see largeReplies).
	large *semaphore.Weighted
	// Counts has the numbers of requests, retries and overload replies so far.
	Counts Counts
}

// Counts are the numbers of requests, retries and overload replies of a pool.
type Counts struct {
	Requests, Retries, Overloads atomic.Int64
}

// NewPool returns a pool. It does not send a request.
func NewPool(c Config) (*Pool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // pauses and latencies reach no data
	}
	return &Pool{
		config:  c,
		gate:    newGate(c),
		secrets: c.secrets(),
		large:   semaphore.NewWeighted(largeReplies),
	}, nil
}

// Close closes idle connections.
func (p *Pool) Close() {
	for _, s := range p.gate.servers {
		(&http.Client{Transport: s.route.transport}).CloseIdleConnections()
	}
}

// Limits returns, for each server, the current limit of requests in flight.
func (p *Pool) Limits() (limits []int) {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	for _, s := range p.gate.servers {
		limits = append(limits, int(s.limit))
	}
	return limits
}

// Request is one request that any of the servers may answer.
type Request struct {
	// Path is appended to the base URL, such as /chat/completions.
	Path string
	Body Body
	// Affinity is equal for requests that should be sent to the same server. 0 means any server.
	Affinity uint64
	// MaxBytes is the maximum size of the reply in bytes.
	MaxBytes int64
	// Timeout is the maximum time of one try. 0 means the time of the pool.
	Timeout time.Duration
	// Skip is called when the request can be sent. If it returns a fault, the request is not
	// sent and the fault is returned. If Skip is nil, the request is always sent.
	Skip func() *Fault
	// Read parses a reply with status 200. An error means that the reply is not an answer.
	Read func(body []byte) error
}

// Answer is a reply, with its status and latency.
type Answer struct {
	// Status is the HTTP status, 0 if there was no reply.
	Status int
	// Body is the reply without secrets. A streamed reply is joined to one completion.
	Body    []byte
	Latency time.Duration
	// sent reports whether the request was sent.
	sent bool
}

// Ask sends a request until it is answered, all tries are used, or a retry cannot help. The
// error is a *Fault or ctx's cause. With a *Fault, the answer is that of the last try.
func (p *Pool) Ask(ctx context.Context, r Request) (Answer, error) {
	pauses := p.config.backoff()
	var failed *server
	var away time.Time // since when the request is waiting for a server that is away
	tries := 0
	for {
		a, tried, fault, err := p.try(ctx, r, failed)
		if err != nil || fault == nil {
			return a, err
		}
		failed = tried
		if away.IsZero() {
			away = p.config.Now()
		}
		waits := fault.away && p.config.Patience > 0
		if waits && p.config.Now().Sub(away) >= p.config.Patience {
			return a, p.gate.endOfPatience(fault, away)
		}

		// A try without a connection counts only if there is no other healthy server and no time
		// to wait for one, since no server has received the request.
		lastResort := p.config.Patience == 0 && !p.gate.hasOtherHealthy(failed)
		if !waits && (!fault.unreachable || lastResort) {
			tries++
		}
		if !fault.isTemporary() || tries > p.config.Retries {
			return a, fault
		}
		p.Counts.Retries.Add(1)
		if err := webclient.Sleep(ctx, pauses.NextBackOff()); err != nil {
			return a, err
		}
	}
}

// backoff returns the pauses between the tries of a request. They double up to ten seconds. They
// are randomised, so that requests that failed together are not repeated together.
func (c Config) backoff() *backoff.ExponentialBackOff {
	const (
		firstPause   = 100 * time.Millisecond
		longestPause = 10 * time.Second
	)
	b := &backoff.ExponentialBackOff{
		InitialInterval:     cmp.Or(c.Wait, firstPause),
		MaxInterval:         longestPause,
		Multiplier:          2,
		RandomizationFactor: 0.5,
	}
	b.Reset()
	return b
}

// try sends a request once, if possible to another server than avoid. It returns the answer, the
// server, and a fault if the request was not answered. The error means that another try cannot
// help. An answer that has arrived is returned even if ctx has ended.
func (p *Pool) try(
	ctx context.Context,
	r Request,
	avoid *server,
) (Answer, *server, *Fault, error) {
	t, err := p.gate.enter(ctx, avoid, r.Affinity)
	if err != nil {
		return Answer{}, nil, nil, err
	}
	if r.Skip != nil {
		if fault := r.Skip(); fault != nil {
			p.gate.leave(t, &Fault{Kind: Withdrawn})
			return Answer{}, t.server, nil, fault
		}
	}
	p.Counts.Requests.Add(1)
	a, fault := p.send(ctx, t.route, r)
	if fault != nil && fault.overload {
		p.Counts.Overloads.Add(1)
	}
	p.gate.leave(t, gateFault(ctx, fault))
	if fault != nil && ctx.Err() != nil {
		return a, t.server, nil, context.Cause(ctx)
	}
	return a, t.server, fault, nil
}
