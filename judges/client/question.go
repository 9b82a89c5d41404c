package client

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/sashabaranov/go-openai"
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

// read takes over the completion's fields.
func (r *Reply) read(response openai.ChatCompletionResponse) {
	first := response.Choices[0]
	r.Text, r.Refusal = first.Message.Content, first.Message.Refusal
	for _, part := range first.Message.MultiContent {
		r.Text += part.Text
	}
	r.Finish, r.Served = string(first.FinishReason), response.Model
	if r.Text == "" {
		r.Text = elsewhere(&first)
	}
	r.Prompt, r.Completion = max(0, response.Usage.PromptTokens), max(0, response.Usage.CompletionTokens)
	r.Counted = r.Prompt > 0
}

// elsewhere is where servers put an answer beside the content: the arguments of
// a call, by which some make structured output, or the reasoning, where its end
// was not found. Reasoning that was cut off is no answer.
func elsewhere(c *openai.ChatCompletionChoice) (text string) {
	for _, call := range c.Message.ToolCalls {
		text += call.Function.Arguments
	}
	if text == "" && c.Message.ReasoningContent != "" && c.FinishReason != openai.FinishReasonLength {
		text = "<think>" + c.Message.ReasoningContent + "</think>"
	}
	return text
}

// Read reads a reply's body again, as it was kept.
func Read(body []byte) (Reply, error) {
	var response openai.ChatCompletionResponse
	if err := json.Unmarshal(body, &response); err != nil {
		return Reply{}, fmt.Errorf("read reply: %w", err)
	}
	if len(response.Choices) == 0 {
		return Reply{}, errors.New("read reply: no completion in it")
	}
	r := Reply{Status: http.StatusOK, Body: body}
	r.read(response)
	return r, nil
}
