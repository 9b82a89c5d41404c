// Package chat is the wire format of chat completions: what a rollout sends
// and what it reads, and nothing of how it travels. Messages are encoded
// once, because a rollout's conversation only grows.
package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/trajectory-arena/arena"
)

// Sampling is how a model is asked to draw. Nil and zero fields are left to
// the server.
type Sampling struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	TopK        *int     `json:"top_k,omitempty"`
	MinP        *float64 `json:"min_p,omitempty"`
	MaxTokens   *int     `json:"max_tokens,omitempty"`
	// TemplateKwargs is chat_template_kwargs, a JSON object.
	TemplateKwargs json.RawMessage `json:"chat_template_kwargs,omitempty"`
}

// Validate returns all that no server takes, joined. What one server takes and
// another does not, such as a temperature of 2, is for the server to say.
func (s Sampling) Validate() error {
	var errs []error
	share := func(name string, v *float64) {
		if v != nil && !(*v >= 0 && *v <= 1) { // so that NaN is refused too
			errs = append(errs, fmt.Errorf("%s %v is no share from 0 to 1", name, *v))
		}
	}
	share("top_p", s.TopP)
	share("min_p", s.MinP)
	if t := s.Temperature; t != nil && !(*t >= 0 && *t <= math.MaxFloat64) {
		errs = append(errs, fmt.Errorf("temperature %v is no number from 0 on", *t))
	}
	if s.TopK != nil && *s.TopK < -1 {
		errs = append(errs, fmt.Errorf("top_k %d is below -1, which is all tokens", *s.TopK))
	}
	if s.MaxTokens != nil && *s.MaxTokens < 1 {
		errs = append(errs, fmt.Errorf("max_tokens %d leaves no room for a reply", *s.MaxTokens))
	}
	return errors.Join(errs...)
}

// Template is what all requests of a run share: all but the messages behind the
// first one, and the seed.
type Template struct {
	head, tail []byte
	// free is the tail without max_tokens; nil where that is not sent.
	free []byte
}

// NewTemplate makes the shared part. The system prompt is every conversation's
// first message. Tools are sent only where they are given.
func NewTemplate(model, system string, sampling Sampling, tools []arena.Raw) (*Template, error) {
	name, err := json.Marshal(model)
	if err != nil {
		return nil, fmt.Errorf("encode model name: %w", err)
	}
	first, err := json.Marshal(Message{Role: "system", Content: system})
	if err != nil {
		return nil, fmt.Errorf("encode system prompt: %w", err)
	}
	t := &Template{head: slices.Concat([]byte(`{"model":`), name, []byte(`,"messages":[`), first)}
	if t.tail, err = tail(sampling, tools); err != nil || sampling.MaxTokens == nil {
		return t, err
	}
	sampling.MaxTokens = nil
	t.free, err = tail(sampling, tools)
	return t, err
}

// tail is what stands behind the messages.
func tail(sampling Sampling, tools []arena.Raw) ([]byte, error) {
	fields, err := json.Marshal(sampling)
	if err != nil {
		return nil, fmt.Errorf("encode sampling: %w", err)
	}
	t := []byte{']'}
	if len(tools) > 0 {
		t = append(t, `,"tools":[`...)
		for i, def := range tools {
			if i > 0 {
				t = append(t, ',')
			}
			t = append(t, def...)
		}
		t = append(t, ']')
	}
	if inner := fields[1 : len(fields)-1]; len(inner) > 0 {
		t = append(append(t, ','), inner...)
	}
	return append(t, `,"stream":false,"seed":`...), nil
}

// Request is the body of a request in pieces, which are those of its template
// and conversation: requests that wait for their replies hold nothing twice.
type Request [][]byte

// Len is the body's length in bytes.
func (r Request) Len() int {
	n := 0
	for _, piece := range r {
		n += len(piece)
	}
	return n
}

// Request asks for the next reply to a conversation.
func (t *Template) Request(c Conversation, seed int64) Request { return t.request(c, t.tail, seed) }

// Unbounded is the same request without max_tokens; nil where that is not sent.
func (t *Template) Unbounded(c Conversation, seed int64) Request {
	if t.free == nil {
		return nil
	}
	return t.request(c, t.free, seed)
}

func (t *Template) request(c Conversation, tail []byte, seed int64) Request {
	return slices.Concat(Request{t.head}, Request(c), Request{tail, append(strconv.AppendInt(nil, seed, 10), '}')})
}

// Message is one message of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Reasoning goes back only where the server told it apart.
	Reasoning string `json:"reasoning_content,omitempty"`
	ToolCalls []Call `json:"tool_calls,omitempty"`
	// CallID is the call that a tool message answers.
	CallID string `json:"tool_call_id,omitempty"`
}

// Call is a native tool call, its arguments as the model wrote them.
type Call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is what a call calls.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Conversation is the messages behind the system prompt as JSON, each behind
// its comma.
type Conversation [][]byte

var comma = []byte{','}

// Append adds a message.
func (c Conversation) Append(m Message) (Conversation, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return append(c, comma, b), nil
}
