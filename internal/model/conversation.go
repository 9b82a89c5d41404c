package model

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Template is what all requests of a run share: all but the messages behind the
// first one, and the seed.
type Template struct {
	// head stands before the messages behind the first, tail behind all, then limit,
	// which is nil where no max_tokens is sent.
	head, tail, limit  []byte
	streamed, seedless bool
}

// NewTemplate makes the shared part of what Validate found nothing wrong with. The
// system prompt is every conversation's first message. Tools are sent only where they
// are given.
func NewTemplate(model, system string, sampling Sampling, tools []arena.Raw) *Template {
	begun := asjson.Bytes(struct {
		Model    string `json:"model"`
		Messages []Turn `json:"messages"`
	}{model, []Turn{{Role: "system", Content: system}}})
	t := &Template{head: bytes.TrimSuffix(begun, []byte("]}")), tail: []byte{']'}}
	if n := sampling.MaxTokens; n != nil {
		t.limit = strconv.AppendInt([]byte(`,"max_tokens":`), int64(*n), 10)
	}
	sampling.MaxTokens = nil
	fields := asjson.Bytes(sampling)
	for i, def := range tools {
		t.tail = append(append(t.tail, []string{`,"tools":[`, `,`}[min(i, 1)]...), def...)
	}
	if len(tools) > 0 {
		t.tail = append(t.tail, ']')
	}
	if inner := fields[1 : len(fields)-1]; len(inner) > 0 {
		t.tail = append(append(t.tail, ','), inner...)
	}
	return t
}

// Streamed is the same for a server that answers in streams alone.
func (t Template) Streamed() *Template {
	t.streamed = true
	return &t
}

// Seedless is the same without a seed.
func (t Template) Seedless() *Template {
	t.seedless = true
	return &t
}

// Keeping is the same with what is to be said of tokens.
func (t Template) Keeping(k Keep) *Template {
	t.tail = append(slices.Clip(t.tail), k.fields()...)
	return &t
}

// Request asks for the next reply to a conversation.
func (t *Template) Request(c Conversation, seed int64) Body { return t.request(c, t.limit, seed) }

// Unbounded is the same request without max_tokens; nil where that is not sent.
func (t *Template) Unbounded(c Conversation, seed int64) Body {
	if t.limit == nil {
		return nil
	}
	return t.request(c, nil, seed)
}

// Glance is the same request for a reply of one token.
func (t *Template) Glance(c Conversation, seed int64) Body {
	return t.request(c, []byte(`,"max_tokens":1`), seed)
}

func (t *Template) request(c Conversation, limit []byte, seed int64) Body {
	end := slices.Clip(limit)
	if t.streamed {
		end = append(end, `,"stream":true,"stream_options":{"include_usage":true}`...)
	} else {
		end = append(end, `,"stream":false`...)
	}
	if !t.seedless {
		end = strconv.AppendInt(append(end, `,"seed":`...), seed, 10)
	}
	return Body{t.head, c.first, c.rest, t.tail, append(end, '}')}
}

// Turn is one message of a conversation.
type Turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Reasoning goes back only where the server told it apart.
	Reasoning string `json:"reasoning_content,omitempty"`
	ToolCalls []Call `json:"tool_calls,omitempty"`
	// CallID is the call that a tool message answers.
	CallID string `json:"tool_call_id,omitempty"`
}

// Conversation is the messages behind the system prompt as JSON, each behind
// its comma: first, which later messages leave as it is, and all others.
type Conversation struct{ first, rest []byte }

// Append adds a message.
func (c Conversation) Append(m Turn) Conversation {
	if c.first == nil {
		return Conversation{first: append([]byte{','}, asjson.Bytes(m)...)}
	}
	c.rest = append(append(c.rest, ','), asjson.Bytes(m)...)
	return c
}

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
	var bad wrong.List
	within := func(v *float64, most float64, format string) { // NaN is not
		bad.Unless(v == nil || *v >= 0 && *v <= most, format, text.Told(v, "%v", ""))
	}
	within(s.TopP, 1, "top_p %s is no share from 0 to 1")
	within(s.MinP, 1, "min_p %s is no share from 0 to 1")
	within(s.Temperature, math.MaxFloat64, "temperature %s is no number from 0 on")
	bad.Unless(s.TopK == nil || *s.TopK >= -1, "top_k %s is below -1, which is all tokens", text.Told(s.TopK, "%d", ""))
	bad.Unless(s.MaxTokens == nil || *s.MaxTokens >= 1, "max_tokens %s leaves no room for a reply", text.Told(s.MaxTokens, "%d", ""))
	return bad.Err()
}
