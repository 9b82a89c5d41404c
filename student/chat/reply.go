package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// Reply is what a model answered.
type Reply struct {
	Content   string
	Reasoning string
	Refusal   string
	// Finish is why the server says the reply ends: stop, length, tool_calls …
	Finish string
	Calls  []Call
	// Usage is nil where the server does not count.
	Usage *Usage
}

// Usage counts tokens as the server does.
type Usage struct{ Prompt, Completion int64 }

// maxTokens bounds what is believed of one request: above any context, and so
// low that the counts of 2^31 requests can be added up.
const maxTokens = 1 << 32

// usage is nil where the server counts nothing, or what nobody can have used.
func usage(v gjson.Result) *Usage {
	if !v.Get("completion_tokens").Exists() {
		return nil
	}
	prompt, completion := v.Get("prompt_tokens").Float(), v.Get("completion_tokens").Float()
	if min(prompt, completion) >= 0 && max(prompt, completion) <= maxTokens { // neither, where one is NaN
		return &Usage{Prompt: int64(prompt), Completion: int64(completion)}
	}
	return nil
}

// Parse reads a chat completion. An error means that this is none, whatever
// the status said, or that the server did not let the model end it, as vLLM and
// SGLang say by abort and gateways by error: never the model's doing.
func Parse(body []byte) (Reply, error) {
	all := string(body)
	switch {
	case cursor.Valid(all):
	case strings.HasPrefix(strings.TrimSpace(all), "data:"):
		return Reply{}, errors.New("read reply: the server streams (server-sent events) although stream is false")
	default:
		return Reply{}, errors.New("read reply: not JSON")
	}
	root := gjson.Parse(all)
	message := root.Get("choices.0.message")
	if !message.IsObject() {
		return Reply{}, errors.New("read reply: no choice with a message")
	}
	finish := root.Get("choices.0.finish_reason").String()
	if finish == "abort" || finish == "error" {
		return Reply{}, fmt.Errorf("read reply: the server broke it off (finish_reason %s)", finish)
	}
	r := Reply{
		Content: text(message.Get("content")), Reasoning: reasoning(message), Refusal: text(message.Get("refusal")),
		Finish: finish, Usage: usage(root.Get("usage")),
	}
	for _, c := range message.Get("tool_calls").Array() {
		r.Calls = append(r.Calls, call(c.Get("id").String(), c.Get("function")))
	}
	if single := message.Get("function_call"); len(r.Calls) == 0 && single.IsObject() {
		r.Calls = []Call{call("", single)} // the form before tool_calls, without an id
	}
	return r, nil
}

func call(id string, function gjson.Result) Call {
	return Call{ID: id, Type: "function", Function: Function{Name: function.Get("name").String(), Arguments: arguments(function.Get("arguments"))}}
}

// text is a string, or the joined text parts of a list of parts.
func text(v gjson.Result) string {
	if !v.IsArray() {
		return v.String()
	}
	var b strings.Builder
	for _, part := range v.Array() {
		b.WriteString(part.Get("text").String())
	}
	return b.String()
}

// reasoning is reasoning_content, or what newer servers call reasoning.
func reasoning(message gjson.Result) string {
	if v := message.Get("reasoning_content"); v.String() != "" {
		return v.String()
	}
	if v := message.Get("reasoning"); v.Type == gjson.String {
		return v.String()
	}
	return ""
}

// arguments are a string by the format; some servers send the object itself.
func arguments(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.String()
	}
	return v.Raw
}

// overflows are how servers say that a prompt is longer than the context.
var overflows = []string{
	"context_length_exceeded", "exceed_context_size", "maximum context length", "context length", "context window", "context size",
	"prompt is too long", "input is too long", "too many tokens", "max_model_len", "max_seq_len", "longer than the maximum model length",
	"tokens + `max_new_tokens` must be", "exceeds the maximum number of tokens", "maximum number of tokens allowed", "prompt too long",
	"reduce the length of the messages", "longer than the model", "`inputs` must have less than", "exceeds maximum allowed token size",
	"exceeds the maximum allowed length",
}

// Overflows reports whether the text of a refused request means that the prompt
// is longer than the model's context.
func Overflows(body []byte) bool { return saysAnyOf(overflows, body) }

// reserves are how they say in the same breath what was kept free for the reply.
var reserves = []string{"max_tokens", "max_completion_tokens", "max_new_tokens", "completion"}

// Reserves reports whether the text of a refused request speaks of the room that it
// asked for the reply: the prompt alone may not be too long.
func Reserves(body []byte) bool { return saysAnyOf(reserves, body) }

func saysAnyOf(words []string, body []byte) bool {
	s := strings.ToLower(string(body))
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
