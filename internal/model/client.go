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

// Client sends questions to one endpoint. Each question is sent once, with structured output if
// the server supports it. Its methods are safe for concurrent use.
type Client struct {
	endpoint Endpoint
	pool     *Pool

	mu sync.Mutex
	// acceptedSchema has the models that answered a question with a schema.
	acceptedSchema map[string]bool
	// plain reports whether questions are sent without schemas, because the server refused one
	// or the endpoint is configured so.
	plain bool
	// reasoning has the models that refused max_tokens or temperature, as OpenAI's reasoning
	// models do.
	reasoning map[string]bool
	// authFault is the fault with which the server refused the key, nil if it did not. No
	// question is sent after it.
	authFault *Fault
}

const (
	// initialLimit is the maximum number of requests in flight at the start, small enough for a
	// small server. The limit grows with the answers.
	initialLimit = 4
	// maxTimeouts is the number of consecutive time-outs after which a server is set aside (gets
	// one request at a time). One question is tried as often (see llm.Defaults), so that a single
	// slow question does not block the others before it fails.
	maxTimeouts = 8
	// probePause is the interval between tries of a server that is set aside. It is less than
	// half of the pause between tries of a question, so that most questions reach a recovered
	// server before they fail.
	probePause = 10 * time.Second
	// defaultTimeout is the time-out of questions that do not set one.
	defaultTimeout = 5 * time.Minute
)

// New returns a client of an endpoint. A nil transport means the default of net/http. now is the
// clock for pauses and latencies.
func New(
	e Endpoint,
	transport http.RoundTripper,
	now func() time.Time,
) (*Client, error) {
	key, headers, hidden, err := e.resolve()
	if err = errors.Join(e.Validate(), err); err != nil {
		return nil, err
	}
	pool, err := NewPool(Config{
		URLs:         []string{e.BaseURL},
		Key:          key,
		Headers:      headers,
		Secrets:      hidden,
		Concurrency:  e.Concurrency,
		InitialLimit: initialLimit,
		Timeout:      defaultTimeout,
		Transport:    transport,
		Now:          now,
		Breaker:      Breaker{After: maxTimeouts, Pause: probePause, OnlyTimeouts: true, FailFast: true},
	})
	if err != nil {
		return nil, err
	}
	return &Client{
		endpoint:       e,
		pool:           pool,
		acceptedSchema: map[string]bool{},
		reasoning:      map[string]bool{},
		plain:          e.PlainText,
	}, nil
}

// Chat sends a question once, after waiting for the endpoint's limits and pauses. The first
// questions determine whether the server supports structured output and the parameters of models
// that do not reason. If it does not, the error is a Schema fault and later questions are sent
// without them. The error is a *Fault or ctx's cause.
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
		c.authFault = fault
	case failed && fault.refusesParameter() && !c.reasoning[q.Model]:
		c.reasoning[q.Model] = true
		fault.Kind = Schema
	case !schema:
	case err == nil:
		c.acceptedSchema[q.Model] = true
	case failed && fault.Kind == Rejected && !c.acceptedSchema[q.Model]:
		c.plain = true
		fault.Kind = Schema
	}
	return x, err
}

func (c *Client) ask(
	ctx context.Context,
	q Question,
	schema bool,
) (Exchange, error) {
	c.mu.Lock()
	reasoning := c.reasoning[q.Model]
	c.mu.Unlock()
	body, err := c.body(q, schema, reasoning)
	if err != nil {
		return Exchange{}, err
	}
	a, err := c.pool.Ask(ctx, Request{
		Path:     chatPath,
		Body:     Body{body},
		MaxBytes: q.maxReplyBytes(),
		Timeout:  q.Timeout,
		Skip:     func() *Fault { return c.skipReason(q) },
		Read: func(b []byte) error {
			_, readErr := Read(b)
			return readErr
		},
	})
	x := Exchange{Answer: a}
	if a.sent {
		x.Request = body
	}
	x.Reply, _ = Read(a.Body) // with a fault too: the tokens it counts were paid for
	return x, err
}

// Body returns the request for a question as JSON, in the form in which it is sent first.
func (c *Client) Body(q Question) ([]byte, error) {
	return c.body(q, len(q.Schema) > 0 && !c.endpoint.PlainText, false)
}

// body encodes a question as JSON. It adds the schema of the answer if schema is true, and uses the
// parameters of reasoning models if reasoning is true. Fields that are configured for the question
// or the endpoint replace the generated ones, and a nil value removes a field. Equal questions give
// equal bytes.
func (c *Client) body(q Question, schema, reasoning bool) ([]byte, error) {
	fields := map[string]any{"model": q.Model, "messages": q.Messages, "stream": false}
	if schema {
		fields["response_format"] = openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
				Name:   q.Name,
				Schema: q.Schema,
				Strict: true,
			},
		}
	}
	maps.Copy(fields, q.Params)
	if limit, ok := fields[usualLimit]; reasoning && ok {
		fields[completionLimit] = limit
		delete(fields, usualLimit)
		delete(fields, temperatureParameter)
	}
	maps.Copy(fields, c.endpoint.ExtraBody)
	maps.DeleteFunc(fields, func(_ string, value any) bool {
		return value == nil
	})
	body, err := json.Marshal(fields)
	return body, wrong.Wrap("encode question", err)
}

// temperatureParameter is the name of a parameter that reasoning models refuse, as they do
// usualLimit.
const temperatureParameter = "temperature"

// skipReason returns the reason why a question must not be sent: the caller withdrew it, or the
// server refused the key for an earlier one. It returns nil if the question is to be sent.
func (c *Client) skipReason(q Question) *Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.authFault == nil && q.StillWanted != nil && !q.StillWanted() {
		return &Fault{Kind: Withdrawn, Reason: "unwanted", Detail: "the question was taken back"}
	}
	return c.authFault
}

const chatPath = "/chat/completions"

// conversationAffinity returns a number, never 0, that is equal for requests whose system
// prompts and first messages are equal in the first 256 bytes of each. Such requests are sent
// to the same server, whose cache may contain their common prefix.
func conversationAffinity(b Body) uint64 {
	const prefixBytes = 256 // of the first message, which some harnesses extend
	h := fnv.New64a()
	for _, piece := range b[:min(len(b), 2)] {
		h.Write(piece[:min(len(piece), prefixBytes)])
	}
	return max(1, h.Sum64())
}

// ErrUnreachable is wrapped by an error if no server accepted a connection for Config.Patience.
var ErrUnreachable = errors.New("no server answers")

// ErrAccount is wrapped by an error if a server refuses the key or the account, so that all
// other requests would be refused too.
var ErrAccount = errors.New("the server refuses the key or the account")

// Chat sends a request for the next reply of a conversation until it is answered. raw is the
// body of the reply or, if the error is a *Fault, of the refusal. Other errors are ctx's, or
// wrap ErrUnreachable or ErrAccount; the request may then be sent again later.
func (p *Pool) Chat(ctx context.Context, body Body) (reply Reply, raw []byte, err error) {
	a, err := p.Ask(ctx, Request{
		Path:     chatPath,
		Body:     body,
		Affinity: conversationAffinity(body),
		MaxBytes: cmp.Or(p.config.MaxReply, MaxChat),
		Read: func(b []byte) (err error) {
			reply, err = ReadTurn(b)
			return err
		},
	})
	if err == nil {
		return reply, a.Body, nil
	}
	fault, failed := errors.AsType[*Fault](err)
	switch {
	case !failed && ctx.Err() != nil:
		err = ctx.Err()
	case p.config.Patience > 0 && failed && fault.Reason == reasonServerDown:
		err = fmt.Errorf("%w: %s", ErrUnreachable, fault.Detail)
	case p.config.Patience > 0 && failed && fault.Kind == Auth:
		err = fmt.Errorf("%w: %s", ErrAccount, fault.Error())
	}
	return Reply{}, a.Body, err
}
