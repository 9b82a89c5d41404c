package model

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// MaxChat is the maximum size in bytes of a reply without log-probabilities. A completion of
// 3,072 tokens has about 20 KB, with log-probabilities a megabyte.
const MaxChat = 4 << 20

// Reply is the answer of a model.
type Reply struct {
	Content   string
	Reasoning string
	Refusal   string
	// Finish is the server's finish_reason, such as stop, length or tool_calls.
	Finish string
	Calls  []Call
	// Usage is nil if the server does not count tokens.
	Usage *Usage
	// Model is the model that the server reports to have used.
	Model string
	// message is the JSON of the message. It is sent back with the conversation.
	message string
}

// Usage are the server's token counts. Cached is the part of Prompt that the server reports as
// cached.
type Usage struct{ Prompt, Cached, Completion int64 }

// Call is a tool call with the arguments as the model wrote them. The type in go-openai omits
// empty arguments, and servers then refuse the call.
type Call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is the name of the called function with its arguments.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// maxTokens is the maximum token count that is accepted from a server. It is above any context,
// and so low that the counts of 2^31 requests can be added.
const maxTokens = 1 << 32

// usage returns the token counts of a reply. It returns nil if there are none, or if they are
// negative or above maxTokens.
func usage(v gjson.Result) *Usage {
	promptField := v.Get("prompt_tokens")
	completionField := v.Get("completion_tokens")
	if !promptField.Exists() && !completionField.Exists() {
		return nil
	}
	prompt := promptField.Float()
	completion := completionField.Float()
	plausible := min(prompt, completion) >= 0 && max(prompt, completion) <= maxTokens // false for NaN
	if !plausible {
		return nil
	}
	cached := min(max(v.Get("prompt_tokens_details.cached_tokens").Float(), 0), prompt)
	return &Usage{
		Prompt:     int64(prompt),
		Cached:     int64(cached),
		Completion: int64(completion),
	}
}

// Read parses a chat completion. Servers differ in many fields, so it reads only what it needs:
// an answer that was paid for must not be lost. With an error, it returns what could be read.
func Read(body []byte) (Reply, error) {
	text := string(body)
	if !cursor.Valid(text) {
		return Reply{}, errors.New("read reply: not JSON")
	}
	completion := gjson.Parse(text)
	r := Reply{
		Usage: usage(completion.Get("usage")),
		Model: completion.Get("model").String(),
	}
	choice := choiceOf(completion)
	if !choice.IsObject() {
		return r, errors.New("read reply: no completion in it")
	}
	message := choice.Get("message")
	r.message = message.Raw
	r.Content = JoinText(message.Get("content"))
	r.Reasoning = reasoning(message)
	r.Refusal = JoinText(message.Get("refusal"))
	r.Finish = choice.Get("finish_reason").String()
	r.Calls = calls(message)
	return r, nil
}

// choiceOf returns the choice of a completion that contains the reply. It is the first choice
// with calls, which some gateways return separately from the text. If there is none, it is the
// choice with index 0 or, without one, the first.
func choiceOf(completion gjson.Result) gjson.Result {
	choices := completion.Get("choices").Array()
	if len(choices) < 2 {
		return completion.Get("choices.0")
	}
	for _, choice := range choices {
		if len(calls(choice.Get("message"))) > 0 {
			return choice
		}
	}
	for _, choice := range choices {
		if index := choice.Get("index"); index.Exists() && index.Int() == 0 {
			return choice
		}
	}
	return choices[0]
}

// ReadTurn parses a chat completion that must have a message and be complete. Its error is never
// caused by the model: with finish_reason abort (vLLM, SGLang) or error (gateways), servers
// report that they stopped the reply.
func ReadTurn(body []byte) (Reply, error) {
	r, err := Read(body)
	switch {
	case err != nil:
	case !strings.HasPrefix(r.message, "{"):
		err = errors.New("read reply: no choice with a message")
	case r.Finish == "abort" || r.Finish == "error":
		err = fmt.Errorf("read reply: the server broke it off (finish_reason %s)", r.Finish)
	case r.isUnwritten(gjson.GetBytes(body, "usage.completion_tokens")):
		err = errors.New("read reply: the model wrote nothing and has no finish_reason")
	case len(r.Calls) == 0 && isStatusText(r.Content):
		err = errors.New("read reply: the text is the error of a gateway: " + r.Content)
	}
	return r, err
}

// isUnwritten reports whether a reply is empty: it has no content, no finish reason, and no
// tokens by the server's own count.
func (r Reply) isUnwritten(tokens gjson.Result) bool {
	isEmpty := r.Content == "" && r.Reasoning == "" && r.Refusal == "" && len(r.Calls) == 0
	return isEmpty && r.Finish == "" && tokens.Type == gjson.Number && tokens.Num == 0
}

// JoinText returns a text, or the joined texts of a list of parts.
func JoinText(v gjson.Result) string {
	if !v.IsArray() {
		return v.String()
	}
	var b strings.Builder
	for _, part := range v.Array() {
		b.WriteString(part.Get("text").String())
	}
	return b.String()
}

// reasoning returns the model's reasoning in a message. It is in the field reasoning_content or,
// with newer servers, in the field reasoning.
func reasoning(message gjson.Result) string {
	return cmp.Or(message.Get("reasoning_content").String(), message.Get("reasoning").Str)
}

// MaxCalls is the maximum number of calls in one reply, far above what a model needs. From a
// longer list, one more call is read, to show that there are too many.
const MaxCalls = 256

// calls returns the tool calls of a message, at most MaxCalls+1. If there are none, it returns
// the call in the older field function_call, which has no id.
func calls(message gjson.Result) (calls []Call) {
	list := message.Get("tool_calls")
	if list.IsObject() { // a single call, without its list
		return []Call{NewCall(list.Get("id").String(), list.Get("function"))}
	}
	if list.IsArray() {
		list.ForEach(func(_, c gjson.Result) bool {
			calls = append(calls, NewCall(c.Get("id").String(), c.Get("function")))
			return len(calls) <= MaxCalls
		})
	}
	if single := message.Get("function_call"); len(calls) == 0 && single.IsObject() {
		calls = []Call{NewCall("", single)}
	}
	return calls
}

// NewCall returns the tool call with this id that function, a JSON object with the tool's name and
// the arguments, describes. The arguments may be a JSON string, as the format requires, or an
// object, as some servers send.
func NewCall(id string, function gjson.Result) Call {
	arguments := function.Get("arguments")
	text := arguments.Raw
	if arguments.Type == gjson.String {
		text = arguments.Str
	}
	return Call{
		ID:   id,
		Type: "function",
		Function: Function{
			Name:      function.Get("name").String(),
			Arguments: text,
		},
	}
}
