package model

import (
	"encoding/json"
	"time"

	"github.com/trajectory-arena/arena/internal/digest"
)

// Question is what to ask of which model.
type Question struct {
	Model    string
	Messages []Message
	// Params are further fields of the request, such as temperature.
	Params map[string]any
	// Schema is the JSON schema of the answer, under Name.
	Schema json.RawMessage
	Name   string
	// Timeout bounds one request, from sending to its reply.
	Timeout time.Duration
	// Wanted is asked again when the question's turn has come; nil is always.
	Wanted func() bool
}

// most bounds the reply in bytes: where the question says how many tokens it may have,
// by far more than those take as text.
func (q Question) most() int64 {
	const one, more = 128, 256 << 10
	if n, told := q.Params["max_tokens"].(int); told && n > 0 {
		return min(MaxChat, int64(n)*one+more)
	}
	return MaxChat
}

// Message is one message of a question. Keys of ledgers are made of its JSON.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Exchange is a completion, with the exchange as it was on the wire.
type Exchange struct {
	Reply
	Status int
	// Request is what was sent, nil where nothing was.
	Request []byte
	Body    []byte
	Latency time.Duration
}

// Counted reports whether the server says what the prompt took.
func (x Exchange) Counted() bool { return x.Usage != nil && x.Usage.Prompt > 0 }

// Text is the answer: the content, or where servers put it beside that, the
// arguments of a call, by which some make structured output, or the reasoning,
// where its end was not found. Reasoning that was cut off is no answer.
func (r Reply) Text() string {
	if r.Content != "" {
		return r.Content
	}
	text := ""
	for _, c := range r.Calls {
		text += c.Function.Arguments
	}
	if text == "" && r.Reasoning != "" && r.Finish != "length" {
		return "<think>" + r.Reasoning + "</think>"
	}
	return text
}

// Key is the hex sha256 of what is asked of whom: model, messages, parameters
// and the endpoint's extra body, but neither its address nor its secrets, and
// not the schema, which servers may not take.
func (c *Client) Key(q Question) (string, error) {
	body, err := c.body(q, false)
	if err != nil {
		return "", err
	}
	return digest.SHA256(body), nil
}
