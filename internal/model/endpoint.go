package model

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Endpoint is one server as its user configures it.
type Endpoint struct {
	Name string `yaml:"name"`
	// BaseURL is the address as OpenAI clients take it, usually ending in /v1.
	BaseURL string `yaml:"base_url"`
	// KeyEnv names the environment variable that holds the key; empty for a
	// server without one.
	KeyEnv string `yaml:"key_env,omitempty"`
	// Headers are sent with every request. A value of the form $NAME is taken
	// from the environment.
	Headers map[string]string `yaml:"headers,omitempty"`
	// ExtraBody is merged into every request; null takes a field out.
	ExtraBody map[string]any `yaml:"extra_body,omitempty"`
	// Concurrency is the most requests in flight; fewer where the server says
	// that it has too many.
	Concurrency int `yaml:"concurrency"`
	// PlainText asks for no structured output, for a server that takes the
	// request and then answers nothing useful.
	PlainText bool `yaml:"plain_text,omitempty"`
}

// Validate names everything that cannot be used, all at once.
func (e Endpoint) Validate() error {
	var bad wrong.List
	a, err := newAddress(e.BaseURL)
	bad.Unless(err == nil, "endpoint %q: base_url %q: want http://… or https://…", e.Name, bare(e.BaseURL))
	bad.Unless(a.user == nil && a.query == "", "endpoint %q: base_url holds a user or a query: keys come from the environment (key_env, headers)", e.Name)
	bad.Unless(e.Concurrency >= 1, "endpoint %q: concurrency is %d: want at least 1", e.Name, e.Concurrency)
	for _, field := range []string{"messages", "model", "n", "stream"} {
		_, set := e.ExtraBody[field]
		bad.Unless(!set, "endpoint %q: extra_body.%s cannot be set: it is part of the question", e.Name, field)
	}
	return bad.Err()
}

// resolve gives the endpoint's key and headers, and of the headers those that are
// secret, from the environment.
func (e Endpoint) resolve() (key string, headers map[string]string, hidden []string, err error) {
	headers = map[string]string{}
	var bad wrong.List
	need := func(name string) string {
		value := os.Getenv(name)
		bad.Unless(value != "", "endpoint %q: environment variable %s is not set", e.Name, name)
		return value
	}
	if e.KeyEnv != "" {
		key = need(e.KeyEnv)
	}
	for _, header := range slices.Sorted(maps.Keys(e.Headers)) {
		value := e.Headers[header]
		if name, secret := strings.CutPrefix(value, "$"); secret {
			value = need(name)
			hidden = append(hidden, value)
		}
		headers[header] = value
	}
	return key, headers, hidden, bad.Err()
}

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
	Answer
	// Request is what was sent, nil where nothing was.
	Request []byte
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
	return digest.SHA256(body), err
}
