package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// MaxChat bounds a reply in words: a completion of 3,072 tokens is some 20 KB,
// with log-probabilities a megabyte.
const MaxChat = 4 << 20

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
	// Served is the model that the server says it used.
	Served string
}

// Usage counts tokens as the server does. Cached are those of Prompt that it says
// it had in its cache.
type Usage struct{ Prompt, Cached, Completion int64 }

// Call is a tool call, its arguments as the model wrote them. go-openai's own
// leaves out empty arguments, which servers then refuse.
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

// maxTokens bounds what is believed of one request: above any context, and so
// low that the counts of 2^31 requests can be added up.
const maxTokens = 1 << 32

// usage is nil where the server counts nothing, or what nobody can have used.
func usage(v gjson.Result) *Usage {
	in, out := v.Get("prompt_tokens"), v.Get("completion_tokens")
	prompt, completion := in.Float(), out.Float()
	if !in.Exists() && !out.Exists() || !(min(prompt, completion) >= 0 && max(prompt, completion) <= maxTokens) { // neither, where one is NaN
		return nil
	}
	cached := min(max(v.Get("prompt_tokens_details.cached_tokens").Float(), 0), prompt)
	return &Usage{Prompt: int64(prompt), Cached: int64(cached), Completion: int64(completion)}
}

// Read reads a chat completion, and looks at nothing but what it takes: servers
// write the other fields as they like, and an answer that was paid for is an
// answer whatever they hold. What it could read is given beside an error too.
func Read(body []byte) (Reply, error) {
	text := string(body)
	if !cursor.Valid(text) {
		return Reply{}, errors.New("read reply: not JSON")
	}
	whole := gjson.Parse(text)
	r := Reply{Usage: usage(whole.Get("usage")), Served: whole.Get("model").String()}
	first := whole.Get("choices.0")
	if !first.IsObject() {
		return r, errors.New("read reply: no completion in it")
	}
	message := first.Get("message")
	r.Content, r.Reasoning, r.Refusal = Joined(message.Get("content")), reasoning(message), Joined(message.Get("refusal"))
	r.Finish, r.Calls = first.Get("finish_reason").String(), calls(message)
	return r, nil
}

// ReadTurn reads a chat completion that must hold a message and must have come
// to its end. Its error is never the model's doing: servers say by abort (vLLM,
// SGLang) and by error (gateways) that they broke the reply off.
func ReadTurn(body []byte) (Reply, error) {
	r, err := Read(body)
	switch {
	case err != nil:
	case !gjson.GetBytes(body, "choices.0.message").IsObject():
		err = errors.New("read reply: no choice with a message")
	case r.Finish == "abort" || r.Finish == "error":
		err = fmt.Errorf("read reply: the server broke it off (finish_reason %s)", r.Finish)
	}
	return r, err
}

// Joined is a text, or the joined texts of a list of parts.
func Joined(v gjson.Result) string {
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
	return cmp.Or(message.Get("reasoning_content").String(), message.Get("reasoning").Str)
}

// MaxCalls bounds the calls of one reply: far above what anybody needs at once. Of
// more one more is read.
const MaxCalls = 256

// calls are the tool calls, or the one in the form before tool_calls, which has
// no id.
func calls(message gjson.Result) (all []Call) {
	if list := message.Get("tool_calls"); list.IsArray() {
		list.ForEach(func(_, c gjson.Result) bool {
			all = append(all, call(c.Get("id").String(), c.Get("function")))
			return len(all) <= MaxCalls
		})
	}
	if single := message.Get("function_call"); len(all) == 0 && single.IsObject() {
		all = []Call{call("", single)}
	}
	return all
}

// call takes arguments as the string that they are by the format, or as the
// object that some servers send.
func call(id string, function gjson.Result) Call {
	arguments := function.Get("arguments")
	text := arguments.Raw
	if arguments.Type == gjson.String {
		text = arguments.Str
	}
	return Call{ID: id, Type: "function", Function: Function{Name: function.Get("name").String(), Arguments: text}}
}

// overflowing is how servers say that a prompt is longer than the context.
var overflowing = []string{
	"context_length_exceeded", "exceed_context_size", "maximum context length", "context length", "context window", "context size",
	"prompt is too long", "input is too long", "too many tokens", "max_model_len", "max_seq_len", "longer than the maximum model length",
	"tokens + `max_new_tokens` must be", "exceeds the maximum number of tokens", "maximum number of tokens allowed", "prompt too long",
	"reduce the length of the messages", "longer than the model", "`inputs` must have less than", "exceeds maximum allowed token size",
	"exceeds the maximum allowed length",
}

// overflows reports whether the text of a refused request means that the prompt
// is longer than the model's context.
func overflows(body []byte) bool { return saysAnyOf(overflowing, body) }

// reserving is how they say in the same breath what was kept free for the reply.
var reserving = []string{"max_tokens", "max_completion_tokens", "max_new_tokens", "completion"}

// Reserves reports whether the text of a refused request speaks of the room that it
// asked for the reply: the prompt alone may not be too long.
func Reserves(body []byte) bool { return saysAnyOf(reserving, body) }

func saysAnyOf(phrases []string, body []byte) bool {
	s := strings.ToLower(string(body))
	return slices.ContainsFunc(phrases, func(w string) bool { return strings.Contains(s, w) })
}
