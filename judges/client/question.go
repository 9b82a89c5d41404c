package client

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
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
	// Tokens is what prompt and completion are expected to use.
	Tokens int
}

// Message is one message of a chat.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Reply is a completion, with the exchange as it was on the wire.
type Reply struct {
	Text    string
	Refusal string
	// Finish is the server's reason for the end, such as "length".
	Finish string
	// Served is the model that the server says it used.
	Served string
	// Prompt and Completion are tokens as the server counts them; Counted is
	// false where it does not.
	Prompt     int
	Completion int
	Counted    bool
	Status     int
	Request    []byte
	Body       []byte
	Latency    time.Duration
}

// Key is the hex sha256 of what is asked of whom: model, messages, parameters
// and the endpoint's extra body, but neither its address nor its secrets, and
// not the schema, which servers may not take.
func (c *Client) Key(q Question) (string, error) {
	body, err := json.Marshal(map[string]any{"model": q.Model, "messages": q.Messages, "stream": false})
	if err == nil {
		body, err = c.params(q).into(body)
	}
	if err != nil {
		return "", fmt.Errorf("hash question: %w", err)
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:]), nil
}

func (c *Client) params(q Question) params {
	p := params{}
	maps.Copy(p, q.Params)
	maps.Copy(p, c.endpoint.ExtraBody)
	return p
}

// mostTokens bounds a server's count of tokens: no completion has a billion of
// them, and sums of more would pass for less than nothing.
const mostTokens = 1e9

// read takes over what a reply's body says, and tells if there is a completion
// in it. It looks at nothing but what it takes: servers write the other fields
// as they like, and an answer that was paid for is an answer whatever they hold.
func (r *Reply) read(body []byte) bool {
	text := string(body)
	if !cursor.Valid(text) {
		return false
	}
	whole := gjson.Parse(text)
	prompt, completion := whole.Get("usage.prompt_tokens").Int(), whole.Get("usage.completion_tokens").Int()
	if prompt > 0 && prompt <= mostTokens && completion >= 0 && completion <= mostTokens {
		r.Prompt, r.Completion, r.Counted = int(prompt), int(completion), true
	}
	r.Served = whole.Get("model").String()
	first := whole.Get("choices.0")
	message := first.Get("message")
	r.Text, r.Refusal, r.Finish = content(message.Get("content")), message.Get("refusal").String(), first.Get("finish_reason").String()
	if r.Text == "" {
		r.Text = elsewhere(message, r.Finish)
	}
	return first.IsObject()
}

// content is a text, or a list of parts with texts.
func content(v gjson.Result) string {
	if !v.IsArray() {
		return v.String()
	}
	var text strings.Builder
	for _, part := range v.Array() {
		text.WriteString(part.Get("text").String())
	}
	return text.String()
}

// elsewhere is where servers put an answer beside the content: the arguments of
// a call, by which some make structured output, or the reasoning, where its end
// was not found. Reasoning that was cut off is no answer.
func elsewhere(message gjson.Result, finish string) string {
	var text strings.Builder
	for _, arguments := range message.Get("tool_calls.#.function.arguments").Array() {
		text.WriteString(arguments.String())
	}
	if reasoning := message.Get("reasoning_content").String(); text.Len() == 0 && reasoning != "" && finish != "length" {
		return "<think>" + reasoning + "</think>"
	}
	return text.String()
}

// Read reads a reply's body again, as it was kept.
func Read(body []byte) (Reply, error) {
	r := Reply{Status: http.StatusOK, Body: body}
	if !r.read(body) {
		return Reply{}, errors.New("read reply: no completion in it")
	}
	return r, nil
}
