package inspectlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// message is inspect_ai's ChatMessage.
type message struct {
	Role string `json:"role"`
	// Content is a text, or a list of parts where there are thoughts.
	Content any `json:"content"`
	// Source is "generate" for what the model wrote.
	Source    string     `json:"source,omitempty"`
	Model     string     `json:"model,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
	Function  string     `json:"function,omitempty"`
	Error     *toolError `json:"error,omitempty"`
}

type part struct {
	Type      string  `json:"type"`
	Text      *string `json:"text,omitempty"`
	Reasoning *string `json:"reasoning,omitempty"`
}

type toolCall struct {
	ID        string          `json:"id"`
	Function  string          `json:"function"`
	Arguments json.RawMessage `json:"arguments"`
	// ParseError says why the call could not be read.
	ParseError string `json:"parse_error,omitempty"`
	Type       string `json:"type"`
}

type toolError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// output is inspect_ai's ModelOutput: the last reply.
type output struct {
	Model      string   `json:"model"`
	Choices    []choice `json:"choices"`
	Completion string   `json:"completion"`
	Usage      *usage   `json:"usage,omitempty"`
}

type choice struct {
	Message message `json:"message"`
	Stop    string  `json:"stop_reason"`
}

// conversation is a rollout as messages, whatever dialect it was played in.
type conversation struct {
	messages []message
	output   output
}

// read reads a rollout's trace.
func read(t *arena.Trace, model string) conversation {
	c := conversation{messages: []message{}, output: output{Model: model, Choices: []choice{}}}
	for i, step := range t.Steps {
		reply, answers := turn(step, i+1)
		reply.Model = model
		c.messages = append(append(c.messages, reply), answers...)
		if i == len(t.Steps)-1 {
			c.output.end(reply, step)
		}
	}
	return c
}

// turn is one step as the model's message and the tools' answers.
func turn(step arena.Step, number int) (reply message, answers []message) {
	reply = message{Role: "assistant", Source: "generate", Content: content(step)}
	add := func(c toolCall, answer message) {
		c.ID, c.Type = fmt.Sprintf("call_%d_%d", number, len(reply.ToolCalls)+1), "function"
		reply.ToolCalls = append(reply.ToolCalls, c)
		answer.Role, answer.CallID, answer.Function = "tool", c.ID, c.Function
		answers = append(answers, answer)
	}
	for _, call := range step.Calls {
		add(toolCall{Function: call.Name, Arguments: tame(string(call.Arguments))}, message{Content: call.Result.Text()})
	}
	gjson.Get(string(step.Raw), "extra_info.malformed").ForEach(func(_, fault gjson.Result) bool {
		arguments, _ := json.Marshal(map[string]string{"text": fault.Get("text").String()}) // strings always encode
		why := fault.Get("error").String()
		add(toolCall{Function: fault.Get("name").String(), Arguments: arguments, ParseError: why},
			message{Content: why, Error: &toolError{"parsing", why}})
		return true
	})
	return reply, answers
}

// content is a text, or the thought and the text as parts.
func content(s arena.Step) any {
	if s.Think == "" {
		return s.Response
	}
	parts := []part{{Type: "reasoning", Reasoning: &s.Think}}
	if s.Response != "" {
		parts = append(parts, part{Type: "text", Text: &s.Response})
	}
	return parts
}

// end makes the last reply the output.
func (o *output) end(reply message, step arena.Step) {
	o.Completion = step.Response
	var body gjson.Result
	if len(step.Proxy) > 0 {
		body = gjson.Parse(string(step.Proxy[0].Response))
	}
	o.Choices = []choice{{Message: reply, Stop: stopReason(body.Get("choices.0.finish_reason").String())}}
	if u := body.Get("usage"); u.Get("completion_tokens").Exists() {
		o.Usage = &usage{Input: u.Get("prompt_tokens").Int(), Output: u.Get("completion_tokens").Int()}
		o.Usage.Total = o.Usage.Input + o.Usage.Output
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

// What Python reads of JSON has limits that JSON itself has not: numbers of
// 4,300 digits, some hundreds of levels, and no half of a surrogate pair in a
// text that is to be UTF-8. Far less than that is no shopping request.
const (
	maxDigits = 300
	maxDepth  = 64
)

// tame gives a call's arguments, an object, as any reader takes them: as they
// are, but for what some reader could not read.
func tame(raw string) json.RawMessage {
	if !wild(raw) {
		return json.RawMessage(raw)
	}
	var v any
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) == nil {
		if b, err := json.Marshal(tamed(v, 0)); err == nil && bytes.HasPrefix(b, []byte{'{'}) {
			return b
		}
	}
	return json.RawMessage("{}")
}

// wild reports whether a text is no object, or may hold what some reader cannot
// read: what is short has neither long numbers nor many levels.
func wild(raw string) bool {
	return len(raw) > maxDigits || !strings.HasPrefix(raw, "{") || !cursor.Valid(raw) || !utf8.ValidString(raw) || strings.Contains(raw, `\ud`) || strings.Contains(raw, `\uD`)
}

// tamed replaces long numbers and deep values by their text. Decoding has
// replaced halves of pairs.
func tamed(v any, depth int) any {
	if depth == maxDepth {
		b, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		return string(b)
	}
	switch v := v.(type) {
	case json.Number:
		if len(v) > maxDigits {
			return v.String()
		}
	case []any:
		for i := range v {
			v[i] = tamed(v[i], depth+1)
		}
	case map[string]any:
		for k := range v {
			v[k] = tamed(v[k], depth+1)
		}
	}
	return v
}
