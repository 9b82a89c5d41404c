package inspectlog

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// doc is a JSON object in inspect_ai's log format. It has only the keys that inspect_ai's readers
// need.
type doc = map[string]any

// message is inspect_ai's ChatMessage, with its keys in alphabetical order. Only replies of the
// model have Source, Model and Calls. Only results of calls have Function, CallID and Error.
type message struct {
	Content  any     `json:"content"`
	Error    doc     `json:"error,omitempty"`
	Function *string `json:"function,omitempty"`
	Model    string  `json:"model,omitempty"`
	Role     string  `json:"role"`
	Source   string  `json:"source,omitempty"`
	CallID   string  `json:"tool_call_id,omitempty"`
	Calls    []call  `json:"tool_calls,omitempty"`
}

type call struct {
	Arguments any     `json:"arguments"`
	Function  *string `json:"function"`
	ID        string  `json:"id"`
	// ParseError is the reason why the arguments are not an object; nil if they are.
	ParseError *string `json:"parse_error,omitempty"`
	Type       string  `json:"type"`
}

// read appends the messages of a rollout (an attempt of the model) to messages, by its trace. It
// returns them, and the model's last reply as inspect_ai's ModelOutput. model is the name of the
// model.
func read(
	t *arena.Trace,
	model string,
	messages ...message,
) ([]message, doc) {
	output := silent(model)
	for i := range t.Steps {
		step := &t.Steps[i]
		start := len(messages)
		messages = turn(messages, step, i+1)
		messages[start].Model = model
		if i == len(t.Steps)-1 {
			end(output, &messages[start], step)
		}
	}
	return messages, output
}

func silent(model string) doc {
	return doc{
		"model":      model,
		"choices":    []doc{},
		"completion": "",
	}
}

// turn appends a reply of the model and the results of its calls to messages and returns them.
// number is the position of the reply, from 1, which is a part of the ids of the calls.
func turn(messages []message, step *arena.Step, number int) []message {
	start := len(messages)
	messages = append(messages, message{
		Role:    "assistant",
		Source:  "generate",
		Content: content(step),
	})
	add := func(c call, answer message) {
		c.ID = fmt.Sprintf("call_%d_%d", number, len(messages)-start)
		c.Type = "function"
		answer.Role, answer.CallID, answer.Function = "tool", c.ID, c.Function
		messages = append(messages, answer)
		messages[start].Calls = append(messages[start].Calls, c)
	}
	for i := range step.Calls {
		c := &step.Calls[i]
		add(call{
			Function:  &c.Name,
			Arguments: tame(string(c.Arguments)),
		}, message{Content: c.Result.Text()})
	}
	if !strings.Contains(string(step.Raw), "malformed") { // most hold none
		return messages
	}
	for _, fault := range gjson.Get(string(step.Raw), "extra_info.malformed").ForEach {
		why := fault.Get("error").String()
		add(call{
			Function:   new(fault.Get("name").String()),
			Arguments:  doc{"text": fault.Get("text").String()},
			ParseError: &why,
		},
			message{Content: why, Error: doc{"type": "parsing", "message": why}})
	}
	return messages
}

func content(s *arena.Step) any {
	if s.Think == "" {
		return s.Response
	}
	parts := []doc{{"type": "reasoning", "reasoning": s.Think}}
	if s.Response != "" {
		parts = append(parts, doc{"type": "text", "text": s.Response})
	}
	return parts
}

func end(output doc, reply *message, step *arena.Step) {
	var body gjson.Result
	if len(step.Proxy) > 0 {
		body = gjson.Parse(string(step.Proxy[0].Response))
	}
	output["completion"] = step.Response
	output["choices"] = []doc{{
		"message":     reply,
		"stop_reason": stopReason(body.Get("choices.0.finish_reason").String()),
	}}
	if u := body.Get("usage"); u.Get("completion_tokens").Exists() {
		prompt := u.Get("prompt_tokens").Int()
		out := u.Get("completion_tokens").Int()
		output["usage"] = usage{prompt, out, prompt + out}
	}
}

func stopReason(finish string) string {
	switch finish {
	case "stop", "tool_calls", "content_filter":
		return finish
	case "length":
		return "max_tokens"
	default:
		return "unknown"
	}
}

// Limits of call arguments that are written as JSON. Python's JSON reader rejects numbers of more
// than 4,300 digits and some hundreds of nested levels, which JSON allows. These limits are lower,
// and still far above what a shopping request has.
const (
	maxDigits = 300
	maxLevels = 64
)

var longNumber = regexp.MustCompile(fmt.Sprintf("[0-9]{%d}", maxDigits))

// tame returns the arguments of a tool call (raw) as JSON that every reader accepts. It returns raw
// unchanged, or {"text": raw} if raw is no JSON object, or has long numbers, many nested levels or
// characters that some readers reject.
func tame(raw string) json.RawMessage {
	wild := !strings.HasPrefix(raw, "{") || !cursor.Valid(raw) || !utf8.ValidString(raw) || strings.Contains(raw, `\ud`) || strings.Contains(raw, `\uD`) ||
		strings.Count(raw, "{")+strings.Count(raw, "[") > maxLevels || len(raw) > maxDigits && longNumber.MatchString(raw)
	if wild {
		return asjson.Bytes(doc{"text": raw})
	}
	return json.RawMessage(raw)
}
