// Package endpoint asks chat-completion servers: several of them as one, with
// bounded tries, waits that servers may ask for, as many requests at once as a
// server takes, and a clear word for every way in which no answer came.
package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/trajectory-arena/arena/student/chat"
)

// Config is how to ask.
type Config struct {
	// URLs are the base URLs as OpenAI clients take them, ending in /v1.
	URLs []string
	// APIKey is sent as a bearer token where it is not empty.
	APIKey string
	// Concurrency bounds the requests at once of each endpoint.
	Concurrency int
	// Timeout bounds one request.
	Timeout time.Duration
	// Retries counts tries after the first.
	Retries int
	// Now is the clock.
	Now func() time.Time
}

// Validate returns all that is wrong with the configuration, joined.
func (c Config) Validate() error {
	var errs []error
	if len(c.URLs) == 0 {
		errs = append(errs, errors.New("no endpoint"))
	}
	for _, u := range c.URLs {
		if p, err := url.Parse(u); err != nil || p.Host == "" || p.Scheme != "http" && p.Scheme != "https" {
			errs = append(errs, fmt.Errorf("endpoint %q is no http URL", u))
		}
	}
	if c.Concurrency < 1 {
		errs = append(errs, errors.New("concurrency must be 1 or more"))
	}
	if c.Timeout <= 0 {
		errs = append(errs, errors.New("timeout must be above 0"))
	}
	if c.Retries < 0 {
		errs = append(errs, errors.New("retries must be 0 or more"))
	}
	return errors.Join(errs...)
}

// Pool asks the endpoints of one configuration. Its methods may be called
// from any goroutine.
type Pool struct {
	config Config
	ways   map[string]way
	gate   *gate
	counts Counts
}

// Counts are what a pool has done so far.
type Counts struct {
	Requests, Retries, Overloads atomic.Int64
}

// NewPool makes a pool. It keeps one connection per request at once.
func NewPool(c Config) (*Pool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := &Pool{config: c, gate: newGate(c), ways: map[string]way{}}
	for _, base := range c.URLs {
		var err error
		if p.ways[base], err = newWay(base, c.APIKey, c.Concurrency); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Close drops the connections.
func (p *Pool) Close() {
	for _, w := range p.ways {
		w.CloseIdleConnections()
	}
}

// Counts gives the running counts.
func (p *Pool) Counts() *Counts { return &p.counts }

// Limits gives the present limit of requests at once, per endpoint.
func (p *Pool) Limits() []int { return p.gate.limits() }

// Ask sends one request until it is answered, and gives the reply with its
// body. The error is an *Infra, ErrOverflow, or ctx's own.
func (p *Pool) Ask(ctx context.Context, request chat.Request) (chat.Reply, []byte, error) {
	wait := newWaits()
	var failed *server
	for tries := 0; ; {
		var a *attempt
		var err error
		a, failed, err = p.try(ctx, request, failed)
		if err != nil {
			return chat.Reply{}, nil, err
		}
		switch a.judge() {
		case answered:
			return a.reply, a.body, nil
		case overflow:
			return chat.Reply{}, a.body, ErrOverflow
		case refused:
			return chat.Reply{}, nil, a.infra()
		case retry:
		}
		if !a.unreachable() || !p.gate.others(failed) { // else nobody was asked yet
			tries++
		}
		if tries > p.config.Retries {
			return chat.Reply{}, nil, a.infra()
		}
		p.counts.Retries.Add(1)
		if err := sleep(ctx, max(a.wait, wait.NextBackOff())); err != nil {
			return chat.Reply{}, nil, err
		}
	}
}

// newWaits are the waits between tries: doubling, with jitter, so that
// rollouts that failed together do not come back together.
func newWaits() *backoff.ExponentialBackOff {
	const first, most = 100 * time.Millisecond, 10 * time.Second
	return &backoff.ExponentialBackOff{InitialInterval: first, MaxInterval: most, Multiplier: 2, RandomizationFactor: 0.5}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try sends the request once, to the endpoint that has most room but for the one
// to avoid, and says which that was. The error is one that no further try can
// help: ctx's, or that every server is down.
func (p *Pool) try(ctx context.Context, request chat.Request, avoid *server) (*attempt, *server, error) {
	e, err := p.gate.enter(ctx, avoid)
	if err != nil {
		return nil, nil, err
	}
	p.counts.Requests.Add(1)
	a := p.send(ctx, e.url, request)
	if a.overloaded() {
		p.counts.Overloads.Add(1)
	}
	err = ctx.Err()
	a.gone = errors.Is(err, context.Canceled)
	p.gate.leave(e, a)
	return a, e, err
}

// maxReply bounds the body of a reply: far above any text that a model
// writes in one turn.
const maxReply = 32 << 20

func (p *Pool) send(ctx context.Context, base string, request chat.Request) *attempt {
	ctx, cancel := context.WithTimeout(ctx, p.config.Timeout)
	defer cancel()
	by := p.ways[base]
	res, err := by.RoundTrip(withBody(by.post.WithContext(ctx), request))
	if err != nil {
		return &attempt{err: err}
	}
	return taken(res, p.config.Now)
}

// taken reads what a server answers.
func taken(res *http.Response, now func() time.Time) *attempt {
	defer res.Body.Close() //nolint:errcheck // read to the end, or given up
	a := &attempt{status: res.StatusCode, wait: retryAfter(res.Header, now)}
	if a.body, a.err = readBody(res); a.err == nil && a.status == http.StatusOK {
		a.reply, a.err = chat.Parse(a.body)
	}
	return a
}

// withBody gives a post its body, as http.NewRequest does.
func withBody(post *http.Request, body chat.Request) *http.Request {
	post.GetBody = func() (io.ReadCloser, error) {
		unread := net.Buffers(slices.Clone(body))
		return io.NopCloser(&unread), nil
	}
	post.Body, _ = post.GetBody() // it never fails
	post.ContentLength = int64(body.Len())
	return post
}

func readBody(res *http.Response) ([]byte, error) {
	size := max(res.ContentLength, 0)
	if size > maxReply {
		return nil, fmt.Errorf("read reply: %d bytes are too many", size)
	}
	b := bytes.NewBuffer(make([]byte, 0, int(size)+bytes.MinRead))
	if _, err := b.ReadFrom(io.LimitReader(res.Body, maxReply)); err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	return b.Bytes(), nil
}

// Queued lowers the limit of an endpoint to the requests that its server works
// on, where it says twice in a row that it keeps some waiting.
func (p *Pool) Queued(url string, waiting int) { p.gate.queued(url, waiting) }
