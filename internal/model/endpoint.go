package model

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Endpoint is the user's configuration of one model server.
type Endpoint struct {
	Name string `yaml:"name"`
	// BaseURL is the base URL of the OpenAI-compatible server, usually ending in /v1.
	BaseURL string `yaml:"base_url"`
	// KeyEnv is the name of the environment variable with the key. It is empty for a server
	// without a key.
	KeyEnv string `yaml:"key_env,omitempty"`
	// Headers are sent with every request. A value of the form $NAME is read from the
	// environment.
	Headers map[string]string `yaml:"headers,omitempty"`
	// ExtraBody is merged into every request. A null value removes a field.
	ExtraBody map[string]any `yaml:"extra_body,omitempty"`
	// Concurrency is the maximum number of requests in flight. If the server is overloaded,
	// fewer are sent.
	Concurrency int `yaml:"concurrency"`
	// PlainText disables structured output, for servers that accept the field but then give no
	// useful answer.
	PlainText bool `yaml:"plain_text,omitempty"`
}

// Validate returns one error that joins everything that is wrong with e, or nil.
func (e Endpoint) Validate() error {
	var bad wrong.List
	a, err := newAddress(e.BaseURL)
	bad.Unless(err == nil, "endpoint %q: base_url %q: want http://… or https://…", e.Name, withoutUserAndQuery(e.BaseURL))
	bad.Unless(a.user == nil && a.query == "", "endpoint %q: base_url holds a user or a query: keys come from the environment (key_env, headers)", e.Name)
	bad.Unless(e.Concurrency >= 1, "endpoint %q: concurrency is %d: want at least 1", e.Name, e.Concurrency)
	for _, field := range []string{"messages", "model", "n", "stream"} {
		_, set := e.ExtraBody[field]
		bad.Unless(!set, "endpoint %q: extra_body.%s cannot be set: it is part of the question", e.Name, field)
	}
	return bad.Err()
}

// resolve returns the key and the headers of the endpoint, with values from the environment
// inserted. hidden has the header values from the environment, which are secret.
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
	for _, header := range slicesx.SortedKeys(e.Headers) {
		value := e.Headers[header]
		if name, secret := strings.CutPrefix(value, "$"); secret {
			value = need(name)
			hidden = append(hidden, value)
		}
		headers[header] = value
	}
	return key, headers, hidden, bad.Err()
}

// Question is a question to a model.
type Question struct {
	Model    string
	Messages []Message
	// Params are additional fields of the request, such as temperature.
	Params map[string]any
	// Schema is the JSON schema of the answer. Name is the name of the schema.
	Schema json.RawMessage
	Name   string
	// Timeout is the maximum time from sending a request to its reply.
	Timeout time.Duration
	// StillWanted is called just before the question is sent, which may be long after the call
	// of Chat. If it returns false, the question is not sent. If it is nil, the question is
	// always sent.
	StillWanted func() bool
}

// maxReplyBytes returns the maximum size of a reply in bytes, at most MaxChat. It is far above
// the size of a text of max_tokens tokens.
func (q Question) maxReplyBytes() int64 {
	const bytesPerToken = 128
	const overhead = 256 << 10
	if n, ok := q.Params["max_tokens"].(int); ok && n > 0 {
		return min(MaxChat, int64(n)*bytesPerToken+overhead)
	}
	return MaxChat
}

// Message is one message of a question. Its JSON is a part of the keys in ledgers.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Exchange is a request and its reply as sent and received.
type Exchange struct {
	Reply
	Answer
	// Request is the body that was sent. It is nil if nothing was sent.
	Request []byte
}

// Counted reports whether the server reported the tokens of the prompt.
func (x Exchange) Counted() bool { return x.Usage != nil && x.Usage.Prompt > 0 }

// Text returns the text of the answer. It is the content or, if that is empty, the arguments of
// tool calls, in which some servers return structured output. If both are empty, it is the
// reasoning, from which some servers do not separate the answer. Truncated reasoning is no
// answer.
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

// Key returns the SHA-256, in hex, of a question's model, messages, parameters and extra body.
// It does not depend on the address and the secrets of the endpoint, nor on the schema, which
// some servers refuse.
func (c *Client) Key(q Question) (string, error) {
	body, err := c.body(q, false, false)
	return digest.SHA256(body), err
}
