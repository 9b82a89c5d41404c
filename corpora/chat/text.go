package chat

import (
	"encoding/json"
	"strings"
)

// Turn is one message of the text form: a role and a string.
type Turn struct {
	Role    string
	Content string
}

// Text writes messages with strings alone, so that every loader reads them
// alike: the tools stand in the system turn, calls and reasoning inside the
// assistant's, results in user turns. Roles alternate. The tags are those of
// the Qwen and Hermes families. Tools have a system turn of their own where
// there is no system prompt.
func Text(ms []Message, tools []string) []Turn {
	out := make([]Turn, 0, 1+len(ms))
	if len(tools) > 0 && (len(ms) == 0 || ms[0].Role != System) {
		out = append(out, Turn{System, SystemText("", tools)})
	}
	for i := 0; i < len(ms); i++ {
		switch m := &ms[i]; m.Role {
		case System:
			out = append(out, Turn{System, SystemText(m.Content, tools)})
		case Assistant:
			out = append(out, Turn{Assistant, assistantText(m)})
		case Tool:
			n := Answers(ms[i:])
			out = append(out, Turn{User, responses(ms[i : i+n])})
			i += n - 1
		default:
			out = append(out, Turn{User, m.Content})
		}
	}
	return out
}

// SystemText is a system prompt followed by the tools that may be called and
// how to call them.
func SystemText(system string, tools []string) string {
	if len(tools) == 0 {
		return system
	}
	var b strings.Builder
	if b.WriteString(system); system != "" {
		b.WriteString("\n\n")
	}
	b.WriteString("# Tools\n\nThese functions may be called, one JSON definition a line:\n<tools>\n")
	for _, t := range tools {
		b.WriteString(t)
		b.WriteByte('\n')
	}
	b.WriteString("</tools>\n\nWrite each call as one JSON object with its name and arguments:\n<tool_call>\n" +
		`{"name": "<function>", "arguments": {<arguments>}}` + "\n</tool_call>")
	return b.String()
}

// Answers is how many messages from the first on are results of calls.
func Answers(ms []Message) (n int) {
	for n < len(ms) && ms[n].Role == Tool {
		n++
	}
	return n
}

func responses(results []Message) string {
	const open, end = "<tool_response>\n", "\n</tool_response>"
	size := 0
	for i := range results {
		size += len(open) + len(results[i].Content) + len(end) + 1
	}
	var b strings.Builder
	b.Grow(size)
	for i := range results {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(open)
		b.WriteString(results[i].Content)
		b.WriteString(end)
	}
	return b.String()
}

func assistantText(m *Message) string {
	var b strings.Builder
	b.Grow(len(m.Reasoning) + len(m.Content) + 64) // the tags of thinking
	part := func(open, text, end string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(open)
		b.WriteString(text)
		b.WriteString(end)
	}
	if m.Reasoning != "" {
		part("<think>\n", m.Reasoning, "\n</think>\n")
	}
	if m.Content != "" {
		part("", m.Content, "")
	}
	for _, c := range m.Calls {
		part("<tool_call>\n", CallText(c.Function), "\n</tool_call>")
	}
	return b.String()
}

// CallText is one call as a JSON object of name and arguments.
func CallText(f Function) string {
	s, err := Marshal(struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}{f.Name, f.Arguments})
	if err != nil { // arguments that Check refuses
		return "{}"
	}
	return s
}
