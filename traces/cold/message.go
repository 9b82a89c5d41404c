package cold

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

var messageKeys = []string{
	"role", "from", "content", "value", "text", "parts", "system_prompt", "reasoning_content", "reasoning", "thinking", "think", "response", "function", "error",
}

var roles = map[string]Role{
	"system": System, "developer": System, "user": User, "human": User,
	"assistant": Agent, "ai": Agent, "model": Agent, "gpt": Agent, "function_call": Agent,
	"tool": Tool, "function": Tool, "tool_response": Tool, "observation": Observed,
}

// messages reads a list of chat messages, of any API. Columns keep messages of many
// forms as text.
func (r *reader) messages(list gjson.Result) {
	r.each(list, func(v gjson.Result) {
		one := Unpacked(v)
		if one.Type == gjson.String {
			r.err = &NoMessages{"messages", arena.Array}
		}
		r.message(fields(one))
	})
}

// message reads one: its content may be text or parts, and parts may hold calls
// and their results.
func (r *reader) message(m object) {
	name := cmp.Or(m["role"].Str, m["from"].Str)
	role, content := roles[name], m.first("content", "value", "text", "parts", "system_prompt")
	if role == Tool && r.shared && m.id("tool_call_id") == "" {
		role = Observed
	}
	said := r.content(content)
	said.answers = append(said.answers, r.observations(m["obs"])...)
	switch role {
	case Agent:
		said.step.Reasoning = cmp.Or(said.step.Reasoning, r.text(m["reasoning_content"]), r.text(m["reasoning"]), r.text(m["thinking"]))
		said.step.Think, said.step.Response = r.text(m["think"]), r.text(m["response"])
		for _, key := range []string{"tool_calls", "tool_call", "function_call"} {
			said.step.Calls = append(said.step.Calls, r.calls(m[key])...)
		}
		if name == "function_call" {
			said.step.Content, said.step.Calls = r.sharedCalls(said.step.Content)
		}
		r.say(message{role: Agent, step: said.step})
	case Tool, Observed:
		if len(said.answers) == 0 {
			r.toolMessage(role, m, content, said.step.Content)
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
func (r *reader) toolMessage(role Role, m object, content gjson.Result, text string) {
	answer := message{role: role, name: m.id("name", "function")}
	if r.plain {
		answer.callID, answer.result = m.id("tool_call_id"), PartsText(arena.Raw(content.Raw))
	} else {
		failed := m.within("error")
		r.lose(lostResultError, len(failed) > 0 || m["error"].Type == gjson.True)
		answer.callID = cmp.Or(m.id("tool_call_id", "call_id", "id"), m["tool_call_ids"].Get("0").Str)
		answer.result = arena.Quote(cmp.Or(text, r.text(failed["message"])))
	}
	r.say(answer)
}

// PartsText joins a list of nothing but parts of text, as a message's are.
// Any other value stays what it is.
func PartsText(raw arena.Raw) arena.Raw {
	if raw.Kind() != arena.Array {
		return raw
	}
	var texts []string
	only := true
	gjson.Parse(string(raw)).ForEach(func(_, part gjson.Result) bool {
		text := part.Get("text")
		if only = part.Get("type").Str == "text" && text.Type == gjson.String; only {
			texts = append(texts, text.Str)
		}
		return only
	})
	if !only || len(texts) == 0 {
		return raw
	}
	return arena.Quote(strings.Join(texts, "\n"))
}

type said struct {
	step    arena.Step
	answers []message
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
		r.attempt().nonText = r.attempt().nonText || v.Exists() && v.Type != gjson.Null
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
		r.attempt().nonText = r.attempt().nonText || text.Type != gjson.String
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
		s.answers = append(s.answers, message{role: Tool, callID: p.id("tool_use_id", "id", "tool_call_id"), result: r.result(p.first("content", "response", "result"))})
	default:
		r.attempt().nonText = true
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

func (r *reader) calls(v gjson.Result) (all []arena.ToolCall) {
	if v = Unpacked(v); v.IsObject() && !v.Get("0").Exists() {
		return []arena.ToolCall{r.call(fields(v))}
	}
	r.each(v, func(one gjson.Result) {
		if one = Unpacked(one); one.IsObject() {
			all = append(all, r.call(fields(one)))
		}
	})
	return all
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
		Arguments: arena.Raw(in.first("arguments", "input", "args", "parameters").Raw), Result: arena.Raw(c["result"].Raw),
	}
}
