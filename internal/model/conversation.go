package model

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Template is the part that all requests of a run have in common: everything except the
// conversation and the seed.
type Template struct {
	// head is the JSON of the request up to the end of the system prompt. tail is the JSON
	// between the last message and limit.
	head, tail []byte
	// tools is the part of tail with the tools.
	tools []byte
	// limit is the field that limits the reply's tokens, such as max_tokens. It is nil if the
	// field is not sent.
	limit []byte
	// limitField is the name of the field in limit.
	limitField  string
	streaming   bool
	withoutSeed bool
}

// NewTemplate returns the template of requests to a model. system is the first message of every
// conversation. sampling must be valid. tools may be empty.
func NewTemplate(model, system string, sampling Sampling, tools []arena.Raw) *Template {
	prefix := asjson.Bytes(struct {
		Model    string `json:"model"`
		Messages []Turn `json:"messages"`
	}{model, []Turn{{Role: "system", Content: system}}})
	t := &Template{
		head: bytes.TrimSuffix(prefix, []byte("]}")),
		tail: []byte{']'},

		limitField: usualLimit,
	}
	if n := sampling.MaxTokens; n != nil {
		t.limit = t.limitOf(int64(*n))
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
		t.tools = slices.Clone(t.tail[1:])
	}

	extra := sampling.Extra
	sampling.MaxTokens = nil
	sampling.Extra = nil
	for _, object := range [][]byte{asjson.Bytes(sampling), extra} {
		fields := bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(object), []byte("{")), []byte("}")))
		if len(fields) > 0 {
			t.tail = append(t.tail, ',')
			t.tail = append(t.tail, fields...)
		}
	}
	return t
}

// CompletionLimit returns a copy of the template that limits a reply with the field
// max_completion_tokens, for servers that refuse max_tokens.
func (t Template) CompletionLimit() *Template {
	t.limitField = completionLimit
	if t.limit != nil {
		t.limit = bytes.Replace(t.limit, []byte(usualLimit), []byte(completionLimit), 1)
	}
	return &t
}

// Fallbacks returns the fields of requests that differ from the usual ones.
func (t *Template) Fallbacks() (fields []string) {
	if t.limitField != usualLimit {
		fields = append(fields, t.limitField)
	}
	if t.streaming {
		fields = append(fields, "stream")
	}
	return fields
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

// WithoutTools returns a copy of the template that sends no tools. It returns nil if the template has none.
func (t Template) WithoutTools() *Template {
	if t.tools == nil {
		return nil
	}
	t.tail = bytes.Replace(t.tail, t.tools, nil, 1)
	t.tools = nil
	return &t
}

// WithTokens returns a copy of the template that asks for the token data that k selects.
func (t Template) WithTokens(k Keep) *Template {
	t.tail = append(slices.Clip(t.tail), k.fields()...)
	return &t
}

// Request returns the request for the next reply to a conversation.
func (t *Template) Request(c Conversation, seed int64) Body { return t.request(c, t.limit, seed) }

// WithoutLimit returns the request without a limit of the reply's tokens. It returns nil if the
// template has no limit.
func (t *Template) WithoutLimit(c Conversation, seed int64) Body {
	if t.limit == nil {
		return nil
	}
	return t.request(c, nil, seed)
}

// SingleToken returns the request with a limit of one token for the reply.
func (t *Template) SingleToken(c Conversation) Body {
	return t.request(c, t.limitOf(1), 0)
}

// The names of the field that limits the tokens of a reply: the usual one, and the one for newer
// models of OpenAI.
const (
	usualLimit      = "max_tokens"
	completionLimit = "max_completion_tokens"
)

// limitOf returns the JSON field of a request that limits its reply to n tokens, preceded by a
// comma.
func (t *Template) limitOf(n int64) []byte {
	return strconv.AppendInt([]byte(`,"`+t.limitField+`":`), n, 10)
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
	// CallID is the id of the call that a tool message answers.
	CallID string `json:"tool_call_id,omitempty"`
}

// Conversation is the list of messages after the system prompt as JSON, each preceded by a
// comma. first is the first message, to which nothing is appended. later has all others.
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

// AppendReply returns the conversation with a reply of the model added. calls replace the calls
// in the reply; they are copies with other ids or arguments, or nil if no calls are sent back.
// It may reuse c's memory.
func (c Conversation) AppendReply(r Reply, calls []Call, returned Returned) Conversation {
	message := gjson.Parse(r.message)
	if r.message == "" {
		message = gjson.ParseBytes(asjson.Bytes(Turn{Content: r.Content}))
	}
	c.later = append(c.later, ',')
	c.later = appendReply(c.later, message, calls, returned)
	return c
}

// Returning returns the conversation with only those fields of its replies that returned
// selects.
func (c Conversation) Returning(returned Returned) Conversation {
	if len(c.later) == 0 {
		return c
	}
	var later []byte
	for _, message := range gjson.Parse("[" + string(c.later[1:]) + "]").ForEach {
		later = append(later, ',')
		if message.Get("role").Str == "assistant" {
			later = appendReply(later, message, calls(message), returned)
		} else {
			later = append(later, message.Raw...)
		}
	}
	return Conversation{first: c.first, later: later}
}

// Equal reports whether two conversations are sent as the same bytes.
func (c Conversation) Equal(o Conversation) bool {
	return bytes.Equal(c.first, o.first) && bytes.Equal(c.later, o.later)
}

// Sampling are the sampling parameters of a request. Fields that are nil or empty are not sent,
// so that the server's defaults apply.
type Sampling struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	TopK        *int     `json:"top_k,omitempty"`
	MinP        *float64 `json:"min_p,omitempty"`
	MaxTokens   *int     `json:"max_tokens,omitempty"`
	// The penalties lower the probability of tokens that occurred before.
	PresencePenalty   *float64 `json:"presence_penalty,omitempty"`
	FrequencyPenalty  *float64 `json:"frequency_penalty,omitempty"`
	RepetitionPenalty *float64 `json:"repetition_penalty,omitempty"`
	// Effort is the effort of reasoning in the server's words, such as "low".
	Effort string `json:"reasoning_effort,omitempty"`
	// TemplateKwargs is a JSON object with arguments for the chat template.
	TemplateKwargs json.RawMessage `json:"chat_template_kwargs,omitempty"`
	// Extra is a JSON object whose fields are added to every request.
	Extra json.RawMessage `json:"extra_body,omitempty"`
}

// checkExtra returns an error if Extra is not an object, or sets a field that the request
// already has or on which the program depends.
func (s Sampling) checkExtra() error {
	extra := s.Extra
	if extra == nil {
		return nil
	}
	s.Extra = nil
	set := gjson.ParseBytes(asjson.Bytes(s))
	reserved := []string{"model", "messages", "tools", "n", "stream", "stream_options", "seed", "logprobs", "top_logprobs", "return_token_ids"}
	var bad wrong.List
	for name := range gjson.ParseBytes(extra).ForEach {
		bad.Unless(!set.Get(name.Str).Exists() && !slices.Contains(reserved, name.Str), "extra body: %s is a field that the request has already", name.Str)
	}
	return bad.Err()
}

// Validate returns an error that joins all values that no server accepts, or nil. Values that
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
	bad = append(bad, s.checkExtra())
	return bad.Err()
}
