package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/trajectory-arena/arena/internal/wrong"
)

// Client puts questions to one endpoint, once each, with structured output where
// the server has it. Its methods may be called from any goroutine.
type Client struct {
	endpoint Endpoint
	pool     *Pool

	mu sync.Mutex
	// schemaFor are the models that answered with a schema; plain says that the
	// server refused one.
	schemaFor map[string]bool
	plain     bool
	// locked is the server's refusal of the key; nothing is sent after it.
	locked *Fault
}

const (
	// firstLimit is where a client's limit starts: enough to learn fast, few enough
	// not to hit a small server with a wall.
	firstLimit = 4
	// silences in a row set a server aside: what one question may cost by itself
	// (llm.Defaults), so that a single one that takes too long for any server keeps
	// no other from being asked.
	silences = 8
	// probeAfter is less than half of the pauses between the tries of a question,
	// so that most find a server that is back before they are given up.
	probeAfter = 10 * time.Second
	// usualTimeout bounds questions without a time-out of their own.
	usualTimeout = 5 * time.Minute
)

// New makes a client. The transport is net/http's where nil; now is the clock
// that latencies are measured with.
func New(e Endpoint, transport http.RoundTripper, now func() time.Time) (*Client, error) {
	key, headers, hidden, err := e.resolve()
	if err = errors.Join(e.Validate(), err); err != nil {
		return nil, err
	}
	pool, err := NewPool(Config{
		URLs: []string{e.BaseURL}, Key: key, Headers: headers, Secrets: hidden, Concurrency: e.Concurrency, First: firstLimit,
		Timeout: usualTimeout, Transport: transport, Now: now,
		Breaker: Breaker{After: silences, Pause: probeAfter, OnlySilent: true, Refuses: true},
	})
	if err != nil {
		return nil, err
	}
	return &Client{endpoint: e, pool: pool, schemaFor: map[string]bool{}, plain: e.PlainText}, nil
}

// Chat asks once. It waits for the endpoint's limits and pauses first. The first
// questions show if the server takes structured output; where it does not, the
// error says so and no later question asks for it. The error is a *Fault, or ctx's
// cause.
func (c *Client) Chat(ctx context.Context, q Question) (Exchange, error) {
	c.mu.Lock()
	schema := len(q.Schema) > 0 && !c.plain
	c.mu.Unlock()
	x, err := c.ask(ctx, q, schema)
	fault, failed := errors.AsType[*Fault](err)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case failed && fault.Kind == Auth:
		c.locked = fault
	case !schema:
	case err == nil:
		c.schemaFor[q.Model] = true
	case failed && fault.Kind == Rejected && !c.schemaFor[q.Model]:
		c.plain, fault.Kind = true, Schema
	}
	return x, err
}

func (c *Client) ask(ctx context.Context, q Question, schema bool) (Exchange, error) {
	body, err := c.body(q, schema)
	if err != nil {
		return Exchange{}, err
	}
	a, err := c.pool.Ask(ctx, Request{
		Path: chatPath, Body: Body{body}, Most: q.most(), Timeout: q.Timeout,
		Needless: func() *Fault { return c.needless(q) },
		Read:     func(b []byte) error { _, bad := Read(b); return bad },
	})
	x := Exchange{Answer: a}
	if a.sent {
		x.Request = body
	}
	x.Reply, _ = Read(a.Body) // beside a fault too: what was counted was paid for
	return x, err
}

// body is a question as it is sent. What the question and its endpoint say beside goes
// before; nil takes a field out. The same question is the same bytes.
func (c *Client) body(q Question, schema bool) ([]byte, error) {
	fields := map[string]any{"model": q.Model, "messages": q.Messages, "stream": false}
	if schema {
		fields["response_format"] = openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: q.Name, Schema: q.Schema, Strict: true},
		}
	}
	maps.Copy(fields, q.Params)
	maps.Copy(fields, c.endpoint.ExtraBody)
	maps.DeleteFunc(fields, func(_ string, value any) bool { return value == nil })
	body, err := json.Marshal(fields)
	return body, wrong.In("encode question", err)
}

// needless says why a question whose turn has come need not be sent; nil where
// it must.
func (c *Client) needless(q Question) *Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locked == nil && q.Wanted != nil && !q.Wanted() {
		return &Fault{Kind: Unwanted, Reason: "unwanted", Detail: "the question was taken back"}
	}
	return c.locked
}

const chatPath = "/chat/completions"

// home is one for all requests that begin with the same system prompt and request.
func home(b Body) uint64 {
	const enough = 256 // bytes of the first message: in some forms it grows
	h := fnv.New64a()
	for _, piece := range b[:min(len(b), 2)] {
		h.Write(piece[:min(len(piece), enough)])
	}
	return max(1, h.Sum64())
}

// ErrAway is in the chain of the error for servers that no connection could be made
// to for as long as the configuration's patience.
var ErrAway = errors.New("no server answers")

// Chat asks for the next reply of a conversation until it is answered, and
// gives it with its body. The error is a *Fault, beside which the body is the
// server's refusal, ctx's own, or has ErrAway in its chain: with that no request
// has failed, and all can be asked again.
func (p *Pool) Chat(ctx context.Context, body Body) (reply Reply, kept []byte, err error) {
	a, err := p.Ask(ctx, Request{Path: chatPath, Body: body, Home: home(body), Most: cmp.Or(p.config.MostReply, MaxChat), Read: func(b []byte) (err error) {
		reply, err = ReadTurn(b)
		return err
	}})
	var fault *Fault
	switch {
	case err == nil:
		return reply, a.Body, nil
	case !errors.As(err, &fault) && ctx.Err() != nil:
		err = ctx.Err()
	case p.config.Patience > 0 && fault != nil && fault.Reason == away:
		err = fmt.Errorf("%w: %s", ErrAway, fault.Detail)
	}
	return Reply{}, a.Body, err
}
