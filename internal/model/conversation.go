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

// Template holds the parts that all requests of a run have in common: everything except
// the conversation and the seed.
type Template struct {
	// head is the JSON of the request up to and including the system prompt, tail that between the
	// last message and limit.
	head, tail []byte
	// limit is the field max_tokens, nil if it is not sent.
	limit       []byte
	streaming   bool
	withoutSeed bool
}

// NewTemplate returns the template of requests to a model. sampling must be valid. The
// system prompt is the first message of every conversation. Tools may be empty.
func NewTemplate(model, system string, sampling Sampling, tools []arena.Raw) *Template {
	prefix := asjson.Bytes(struct {
		Model    string `json:"model"`
		Messages []Turn `json:"messages"`
	}{model, []Turn{{Role: "system", Content: system}}})
	t := &Template{
		head: bytes.TrimSuffix(prefix, []byte("]}")),
		tail: []byte{']'},
	}
	if n := sampling.MaxTokens; n != nil {
		t.limit = strconv.AppendInt([]byte(`,"max_tokens":`), int64(*n), 10)
	}
	if len(tools) > 0 {
		t.tail = append(t.tail, `,"tools":[`...)
		for i, def := range tools {
			if i > 0 {
				t.tail = append(t.tail, ',')
			}
			t.tail = append(t.tail, def...)
		}
		t.tail = append(t.tail, ']')
	}

	sampling.MaxTokens = nil
	object := asjson.Bytes(sampling)
	if fields := object[1 : len(object)-1]; len(fields) > 0 {
		t.tail = append(t.tail, ',')
		t.tail = append(t.tail, fields...)
	}
	return t
}

// Streaming returns a copy of the template that asks for streamed replies.
func (t Template) Streaming() *Template {
	t.streaming = true
	return &t
}

// WithoutSeed returns a copy of the template that sends no seed.
func (t Template) WithoutSeed() *Template {
	t.withoutSeed = true
	return &t
}

// WithTokens returns a copy of the template that asks for the token data of k.
func (t Template) WithTokens(k Keep) *Template {
	t.tail = append(slices.Clip(t.tail), k.fields()...)
	return &t
}

// Request returns the request for the next reply to a conversation.
func (t *Template) Request(c Conversation, seed int64) Body { return t.request(c, t.limit, seed) }

// WithoutLimit returns the request without max_tokens, nil if the template has none.
func (t *Template) WithoutLimit(c Conversation, seed int64) Body {
	if t.limit == nil {
		return nil
	}
	return t.request(c, nil, seed)
}

// SingleToken returns the request with a reply limit of one token.
func (t *Template) SingleToken(c Conversation, seed int64) Body {
	return t.request(c, []byte(`,"max_tokens":1`), seed)
}

func (t *Template) request(c Conversation, limit []byte, seed int64) Body {
	end := slices.Clip(limit)
	if t.streaming {
		end = append(end, `,"stream":true,"stream_options":{"include_usage":true}`...)
	} else {
		end = append(end, `,"stream":false`...)
	}
	if !t.withoutSeed {
		end = strconv.AppendInt(append(end, `,"seed":`...), seed, 10)
	}
	return Body{t.head, c.first, c.later, t.tail, append(end, '}')}
}

// Turn is one message of a conversation.
type Turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Reasoning is sent back only if the server returned it as a field of its own.
	Reasoning string `json:"reasoning_content,omitempty"`
	ToolCalls []Call `json:"tool_calls,omitempty"`
	// CallID is the id of the call that a tool message answers.
	CallID string `json:"tool_call_id,omitempty"`
}

// Conversation holds the messages after the system prompt as JSON, each preceded by a comma. first
// is the first message, which is never appended to; later holds all others.
type Conversation struct{ first, later []byte }

// Append returns the conversation with a message added. It may reuse c's memory.
func (c Conversation) Append(m Turn) Conversation {
	if c.first == nil {
		return Conversation{first: append([]byte{','}, asjson.Bytes(m)...)}
	}
	c.later = append(c.later, ',')
	c.later = append(c.later, asjson.Bytes(m)...)
	return c
}

// Sampling holds the sampling parameters of a request. Fields that are nil or empty are
// not sent, so that the server's defaults apply.
type Sampling struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	TopK        *int     `json:"top_k,omitempty"`
	MinP        *float64 `json:"min_p,omitempty"`
	MaxTokens   *int     `json:"max_tokens,omitempty"`
	// TemplateKwargs is chat_template_kwargs, a JSON object.
	TemplateKwargs json.RawMessage `json:"chat_template_kwargs,omitempty"`
}

// Validate returns all errors of s, joined: values that no server accepts. Values that
// only some servers accept, such as a temperature above 2, are not checked.
func (s Sampling) Validate() error {
	var bad wrong.List
	checkRange := func(v *float64, limit float64, format string) { // NaN is out of range
		bad.Unless(
			v == nil || *v >= 0 && *v <= limit,
			format,
			text.Optional(v, "%v", ""),
		)
	}
	checkRange(s.TopP, 1, "top_p %s is no share from 0 to 1")
	checkRange(s.MinP, 1, "min_p %s is no share from 0 to 1")
	checkRange(s.Temperature, math.MaxFloat64, "temperature %s is no number from 0 on")
	bad.Unless(
		s.TopK == nil || *s.TopK >= -1,
		"top_k %s is below -1, which is all tokens",
		text.Optional(s.TopK, "%d", ""),
	)
	bad.Unless(
		s.MaxTokens == nil || *s.MaxTokens >= 1,
		"max_tokens %s leaves no room for a reply",
		text.Optional(s.MaxTokens, "%d", ""),
	)
	return bad.Err()
}
