// Package model asks models behind OpenAI-compatible servers: several servers
// as one, with as many requests in flight as they take, bounded tries and
// replies, waits that servers ask for, and a clear word for every way in which
// no answer came. No key reaches an error, a reply or anything else that is kept.
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

// Config is how to ask.
type Config struct {
	// URLs are the base URLs as OpenAI clients take them, usually ending in /v1.
	URLs []string
	// Key is sent as a bearer token where it is not empty.
	Key string
	// Headers are sent with every request.
	Headers map[string]string
	// Secrets are further values that nothing kept may hold, beside Key and what
	// the URLs carry.
	Secrets []string
	// Concurrency bounds the requests in flight of each server. First is how many
	// there are at the beginning, until the server shows what it takes; 0 is all.
	Concurrency, First int
	// MostReply bounds a chat completion in bytes; 0 is MaxChat.
	MostReply int64
	// Timeout bounds one try.
	Timeout time.Duration
	// Retries counts tries after the first; Wait is the first pause between two.
	Retries int
	Wait    time.Duration
	// LongestPause bounds the pauses that servers ask for; 0 obeys any, and a
	// request with a deadline that is sooner fails at once.
	LongestPause time.Duration
	// Patience is how long servers are waited for that no connection can be made to;
	// tries in that time are not counted. 0 is ten seconds, in which they are.
	Patience time.Duration
	Breaker  Breaker
	// Transport replaces the network; nil is the network.
	Transport http.RoundTripper
	// Now is the clock of pauses and latencies; nil is the machine's.
	Now func() time.Time
}

// Validate returns all that is wrong with the configuration, joined.
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

// Pool asks the servers of one configuration. Its methods may be called from
// any goroutine.
type Pool struct {
	config  Config
	gate    *gate
	secrets secrets
	large   *semaphore.Weighted
	// Counts are what it has done so far.
	Counts Counts
}

// Counts are what a pool has done so far.
type Counts struct {
	Requests, Retries, Overloads atomic.Int64
}

// NewPool makes a pool. It asks nothing yet.
func NewPool(c Config) (*Pool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // pauses and latencies reach no data
	}
	return &Pool{config: c, gate: newGate(c), secrets: c.secrets(), large: semaphore.NewWeighted(largeReplies)}, nil
}

// Close drops the connections.
func (p *Pool) Close() {
	for _, s := range p.gate.servers {
		(&http.Client{Transport: s.way.transport}).CloseIdleConnections()
	}
}

// Limits gives the present limit of requests in flight, per server.
func (p *Pool) Limits() (all []int) {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	for _, s := range p.gate.servers {
		all = append(all, int(s.limit))
	}
	return all
}

// Request is what to ask.
type Request struct {
	// Path stands behind the base URL, such as /chat/completions.
	Path string
	Body Body
	// Home is the same for requests that had best go to the same server; 0 is none.
	Home uint64
	// Most bounds the bytes of the reply.
	Most int64
	// Timeout bounds one try; 0 is the pool's.
	Timeout time.Duration
	// Needless says, when the request's turn has come, why it need not be sent;
	// nil is never.
	Needless func() *Fault
	// Read reads a reply of status 200. Its error means that this is none.
	Read func(body []byte) error
}

// Answer is a reply with how it came.
type Answer struct {
	// Status is the HTTP status, 0 where no reply came.
	Status int
	// Body is the reply with secrets blanked out, and in one piece where the
	// server streamed it.
	Body    []byte
	Latency time.Duration
	// sent reports whether the request went out.
	sent bool
}

// Ask sends one request until it is answered, the tries are used up, or nothing
// can help. The error is a *Fault, or ctx's cause; the answer is that of the
// last try also beside a fault.
func (p *Pool) Ask(ctx context.Context, r Request) (Answer, error) {
	waits := p.config.waits()
	var failed *server
	for tries := 0; ; {
		a, last, fault, err := p.try(ctx, r, failed)
		if err != nil || fault == nil {
			return a, err
		}
		failed = last
		if !fault.unreachable || p.config.Patience == 0 && !p.gate.others(failed) { // else nobody was asked yet
			tries++
		}
		if !fault.passes() || tries > p.config.Retries {
			return a, fault
		}
		p.Counts.Retries.Add(1)
		if err := webclient.Sleep(ctx, waits.NextBackOff()); err != nil {
			return a, err
		}
	}
}

// waits are the pauses between tries: doubling, with jitter, so that requests
// that failed together do not come back together.
func (c Config) waits() *backoff.ExponentialBackOff {
	const first, longest = 100 * time.Millisecond, 10 * time.Second
	b := &backoff.ExponentialBackOff{InitialInterval: cmp.Or(c.Wait, first), MaxInterval: longest, Multiplier: 2, RandomizationFactor: 0.5}
	b.Reset()
	return b
}

// try sends the request once, to the server that has most room but for the one
// to avoid, and says which that was. The error is one that no further try can
// help. An answer that came is an answer, also where nobody waits for it now.
func (p *Pool) try(ctx context.Context, r Request, avoid *server) (Answer, *server, *Fault, error) {
	t, err := p.gate.enter(ctx, avoid, r.Home)
	if err != nil {
		return Answer{}, nil, nil, err
	}
	if r.Needless != nil {
		if fault := r.Needless(); fault != nil {
			p.gate.leave(t, &Fault{Kind: Unwanted})
			return Answer{}, t.server, nil, fault
		}
	}
	p.Counts.Requests.Add(1)
	a, fault := p.send(ctx, t.way, r)
	if fault != nil && fault.overload {
		p.Counts.Overloads.Add(1)
	}
	p.gate.leave(t, endOf(ctx, fault))
	if fault != nil && ctx.Err() != nil {
		return a, t.server, nil, context.Cause(ctx)
	}
	return a, t.server, fault, nil
}
