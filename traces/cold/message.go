package cold

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// messageKeys are those of a message that readers know.
var messageKeys = []string{
	"role", "content", "text", "parts", "reasoning_content", "reasoning", "thinking", "function", "error",
}

var roles = map[string]Role{
	"system": System, "developer": System, "user": User, "human": User,
	"assistant": Agent, "ai": Agent, "model": Agent, "gpt": Agent, "tool": Tool, "function": Tool,
}

// messages reads a list of chat messages, of any API.
func (r *reader) messages(list gjson.Result) {
	r.each(list, func(v gjson.Result) { r.message(fields(v)) })
}

// message reads one: its content may be text or parts, and parts may hold calls
// and their results.
func (r *reader) message(m object) {
	role := roles[m["role"].Str]
	said := r.content(m.first("content", "text", "parts"))
	switch role {
	case Agent:
		said.step.Reasoning = cmp.Or(said.step.Reasoning, r.text(m["reasoning_content"]), r.text(m["reasoning"]), r.text(m["thinking"]))
		r.each(m["tool_calls"], func(v gjson.Result) { said.step.Calls = append(said.step.Calls, r.call(fields(Unpacked(v)))) })
		r.say(Message{Role: Agent, Step: said.step})
	case Tool:
		if len(said.answers) == 0 {
			r.toolMessage(m, said.step.Content)
		}
	case Other, System, User:
		if said.step.Content != "" || len(said.answers) == 0 {
			r.tell(role, said.step.Content)
		}
	}
	for _, a := range said.answers {
		r.say(a)
	}
	r.unread(m, messageKeys...)
}

// toolMessage is an answer in a message of its own. An error's words stand in for
// an empty answer; that it is one is lost.
func (r *reader) toolMessage(m object, text string) {
	failed := m.within("error")
	r.lose(lostResultError, len(failed) > 0 || m["error"].Type == gjson.True)
	id := cmp.Or(m.id("tool_call_id", "call_id", "id"), m["tool_call_ids"].Get("0").Str)
	r.answer(id, m.id("name", "function"), arena.Quote(cmp.Or(text, r.text(failed["message"]))))
}

// said is what a message's content holds.
type said struct {
	step    arena.Step
	answers []Message
}

// content reads a text, or a list of parts in the words of any API.
func (r *reader) content(v gjson.Result) (s said) {
	switch {
	case v.IsArray():
		var texts, thoughts []string
		r.each(v, func(part gjson.Result) { r.part(part, &s, &texts, &thoughts) })
		s.step.Content, s.step.Reasoning = strings.Join(texts, "\n"), strings.Join(thoughts, "\n")
	case v.Type == gjson.String:
		s.step.Content = r.text(v)
	default:
		r.attempt().NonText = r.attempt().NonText || v.Exists() && v.Type != gjson.Null
	}
	return s
}

func (r *reader) part(v gjson.Result, s *said, texts, thoughts *[]string) {
	p := fields(v)
	switch kind := p["type"].Str; kind {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal", "":
		text := p.first("text", "content", "refusal")
		if v.Type == gjson.String {
			text = v
		}
		r.attempt().NonText = r.attempt().NonText || text.Type != gjson.String
		*texts = append(*texts, r.text(text))
	case "thinking", "reasoning":
		thought := r.text(p.first("thinking", "reasoning", "text", "content"))
		hidden := p["redacted"].Bool() && p["summary"].Type != gjson.String
		if p["redacted"].Bool() {
			thought = r.text(p["summary"])
		}
		r.lose(lostReasoning, hidden)
		*thoughts = append(*thoughts, thought)
	case "redacted_thinking":
		r.lose(lostReasoning, true)
	case "tool_use", "tool_call":
		s.step.Calls = append(s.step.Calls, r.call(p))
	case "tool_result", "tool_call_response":
		r.lose(lostResultError, p["is_error"].Bool())
		s.answers = append(s.answers, Message{Role: Tool, CallID: p.id("tool_use_id", "id", "tool_call_id"), Result: r.result(p.first("content", "response", "result"))})
	default:
		r.attempt().NonText = true
	}
}

// result is a tool's answer: a list of parts as their text, anything else as it is.
func (r *reader) result(v gjson.Result) arena.Raw {
	switch {
	case v.IsArray() && v.Get("0.type").Str != "":
		return arena.Quote(r.content(v).step.Content)
	case !v.Exists() || v.Type == gjson.Null:
		return `""`
	default:
		r.text(v) // a half surrogate is seen
		return arena.Raw(v.Raw)
	}
}

// call reads one call: OpenAI's with a function in it, or name and arguments beside
// each other under the names that APIs have for them.
func (r *reader) call(c object) arena.ToolCall {
	c = tree(c)
	if inner := tree(c.within("tool_call")); len(inner) > 0 { // of OpenInference
		c = inner
	}
	in := c
	if f := c["function"]; f.IsObject() {
		in = fields(f)
	}
	if why := r.text(c["parse_error"]); why != "" {
		r.lose(lostParseError, true)
	}
	return arena.ToolCall{
		ID: c.id("id", "call_id", "tool_call_id", "tool_use_id"), Name: in.id("name", "function", "tool_name"),
		Arguments: arena.Raw(in.first("arguments", "input", "args", "parameters").Raw),
	}
}
