package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sashabaranov/go-openai"
	"golang.org/x/time/rate"
)

// Client asks one endpoint. Its methods may be called from any goroutine.
type Client struct {
	endpoint Endpoint
	api      *openai.Client
	scrub    func(string) string
	now      func() time.Time
	gate     *gate
	tokens   *rate.Limiter

	// probing has room for one: whoever finds out if the server takes schemas.
	probing chan struct{}
	// stumbled is closed when a probe failed without an answer to that.
	stumbled chan struct{}
	stumble  func()
	mu       sync.Mutex
	// schemaFor are the models that answered with a schema; plain says that the
	// server refused one.
	schemaFor map[string]bool
	plain     bool
	// locked is the server's refusal of the key; nothing is sent after it.
	locked *Fault
}

// New makes a client. The transport is http.DefaultTransport's kind where nil;
// now is the clock that latencies are measured with.
func New(e Endpoint, transport http.RoundTripper, now func() time.Time) (*Client, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	secret, err := e.resolve()
	if err != nil {
		return nil, err
	}
	if transport == nil {
		transport = pooled(e.Concurrency)
	}
	scrub := secret.replacer(e)
	config := openai.DefaultConfig(secret.key)
	config.BaseURL = e.BaseURL
	config.HTTPClient = &doer{
		http:    &http.Client{Transport: transport, CheckRedirect: noRedirects},
		headers: secret.headers, scrub: scrub,
	}
	c := &Client{
		endpoint: e, api: openai.NewClientWithConfig(config), scrub: scrub.Replace, now: now,
		gate: newGate(e.Concurrency, now), probing: make(chan struct{}, 1), schemaFor: map[string]bool{}, plain: e.PlainText,
	}
	c.stumbled = make(chan struct{})
	c.stumble = sync.OnceFunc(func() { close(c.stumbled) })
	if e.TokensPerMinute > 0 {
		c.tokens = rate.NewLimiter(rate.Limit(float64(e.TokensPerMinute)/60), e.TokensPerMinute)
	}
	return c, nil
}

// pooled keeps as many connections as there are requests in flight.
func pooled(n int) http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost, t.MaxIdleConns = n, n
	return t
}

// Chat asks once. It waits for the endpoint's limits and pauses first. The
// first question shows if the server takes structured output; where it does
// not, the error says so and no further question asks for it. The error is a
// *Fault, or ctx's.
func (c *Client) Chat(ctx context.Context, q Question) (Reply, error) {
	if !c.unsure(q) {
		return c.ask(ctx, q, c.takesSchema(q))
	}
	select {
	case c.probing <- struct{}{}:
	case <-c.stumbled:
		return c.probe(ctx, q)
	case <-ctx.Done():
		return Reply{}, context.Cause(ctx)
	}
	if !c.unsure(q) {
		<-c.probing
		return c.ask(ctx, q, c.takesSchema(q))
	}
	defer func() { <-c.probing }()
	return c.probe(ctx, q)
}

// probe finds out with this question if the server takes schemas. One goes at a
// time, so that knowing costs one request, until one fails for another reason:
// a server in trouble must not be asked one by one.
func (c *Client) probe(ctx context.Context, q Question) (Reply, error) {
	reply, err := c.ask(ctx, q, true)
	var fault *Fault
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.schemaFor[q.Model] = true
	case errors.As(err, &fault) && fault.Kind == Rejected:
		c.plain = true
		fault.Kind = Schema
	default:
		c.stumble()
	}
	return reply, err
}

// unsure reports whether this question will show if the server takes schemas.
func (c *Client) unsure(q Question) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(q.Schema) > 0 && !c.plain && !c.schemaFor[q.Model]
}

func (c *Client) takesSchema(q Question) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(q.Schema) > 0 && !c.plain
}

func (c *Client) ask(ctx context.Context, q Question, schema bool) (Reply, error) {
	if c.gate.setAside() { // before the question takes tokens from those a minute
		return Reply{}, asideFault()
	}
	if err := c.waitForTokens(ctx, q.Tokens); err != nil {
		return Reply{}, err
	}
	turn, err := c.gate.enter(ctx)
	if err != nil {
		return Reply{}, err
	}
	if fault := c.needless(q); fault != nil {
		c.gate.pass(turn)
		return Reply{}, fault
	}
	w := &wire{}
	start := c.now()
	err = c.send(ctx, q, schema, w)
	reply := Reply{Status: w.status, Request: w.body, Body: w.reply, Latency: c.now().Sub(start)}
	var fault *Fault
	if !reply.read(w.reply) || w.status != http.StatusOK || w.broken {
		fault = c.faultOf(ctx, w, err)
	}
	c.lock(fault)
	c.gate.leave(turn, endOf(fault))
	switch {
	case fault == nil:
		// An answer that came is an answer, also where nobody waits for it now.
		return reply, nil
	case ctx.Err() != nil:
		return reply, context.Cause(ctx)
	}
	return reply, fault
}

// endOf is what the gate learns of a request; its fault is nil where it was
// answered.
func endOf(f *Fault) end {
	if f == nil {
		return end{}
	}
	return end{overload: f.Kind == Limited || f.Kind == Server || f.Kind == Network, pause: f.RetryAfter, silent: f.silent}
}

// needless says why a question whose turn has come need not be sent; nil where
// it must.
func (c *Client) needless(q Question) *Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locked == nil && q.Wanted != nil && !q.Wanted() {
		return &Fault{Kind: Unwanted, Detail: "the question was taken back"}
	}
	return c.locked
}

// lock keeps a refusal of the key.
func (c *Client) lock(f *Fault) {
	if f == nil || f.Kind != Auth {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locked = f
}

// send leaves on the wire what came back. Its error is why nothing did, or what
// go-openai makes of it.
func (c *Client) send(ctx context.Context, q Question, schema bool, w *wire) error {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, wireKey{}, outgoing{w, c.params(q)}), q.Timeout)
	defer cancel()
	request := openai.ChatCompletionRequest{Model: q.Model}
	for _, m := range q.Messages {
		request.Messages = append(request.Messages, openai.ChatCompletionMessage{Role: m.Role, Content: m.Content})
	}
	if schema {
		request.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: q.Name, Schema: q.Schema, Strict: true},
		}
	}
	_, err := c.api.CreateChatCompletion(ctx, request)
	return err
}

// faultOf says why no completion came.
func (c *Client) faultOf(ctx context.Context, w *wire, err error) *Fault {
	if err == nil {
		err = errors.New("no completion in the reply")
	}
	status := w.status
	if status == http.StatusOK {
		status = statusWithin(w.reply)
	}
	fault := &Fault{Kind: kindOf(status), Status: w.status, Detail: clip(c.scrub(said(err)))}
	if w.broken && w.status < 300 {
		fault.Kind = Network
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		fault.Detail, fault.silent = "no reply within the time-out", true
	}
	if fault.Kind == Limited || fault.Kind == Server {
		fault.RetryAfter = retryAfter(w.header, c.now())
	}
	return fault
}

// waitForTokens keeps to the tokens a minute. Where they come too late for
// ctx, that is a limit like any other.
func (c *Client) waitForTokens(ctx context.Context, n int) error {
	if c.tokens == nil {
		return nil
	}
	err := c.tokens.WaitN(ctx, min(n, c.tokens.Burst()))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &Fault{Kind: Limited, RetryAfter: time.Minute, Detail: "tokens_per_minute leaves no room before the deadline"}
	}
	return nil
}

// said is what a server gave as its reason, without go-openai's frame.
func said(err error) string {
	var api *openai.APIError
	var plain *openai.RequestError
	switch {
	case errors.As(err, &api):
		return api.Message
	case errors.As(err, &plain) && len(plain.Body) > 0:
		return strings.ToValidUTF8(string(plain.Body), "\uFFFD")
	}
	return err.Error()
}

// clip keeps an error message readable: servers answer with whole pages.
func clip(s string) string {
	const most = 300
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
