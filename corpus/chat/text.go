package chat

import (
	"encoding/json"
	"strings"
)

// Turn is one message of the text form, and of the encodings that every loader
// reads: two strings.
type Turn struct {
	Role    string `json:"role" parquet:"role,dict"`
	Content string `json:"content" parquet:"content"`
}

// Text writes messages with strings alone, so that every loader reads them
// alike: the tools stand in the system turn, calls and reasoning inside the
// assistant's, results in user turns, before what the user says then. Roles
// alternate. The tags are those of the Qwen and Hermes families. Tools have a
// system turn of their own where there is no system prompt.
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
			out = append(out, Turn{User, Responses(ms[i : i+n])})
			i += n - 1
		default:
			if last := len(out) - 1; last >= 0 && out[last].Role == User {
				out[last].Content += "\n" + m.Content
				continue
			}
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

// Responses are results of calls as text forms have them, in one turn.
func Responses(results []Message) string {
	parts := make([]string, len(results))
	for i := range results {
		parts[i] = "<tool_response>\n" + results[i].Content + "\n</tool_response>"
	}
	return strings.Join(parts, "\n")
}

func assistantText(m *Message) string {
	parts := make([]string, 0, 2+len(m.Calls))
	if m.Reasoning != "" {
		parts = append(parts, "<think>\n"+m.Reasoning+"\n</think>\n")
	}
	if m.Content != "" {
		parts = append(parts, m.Content)
	}
	for _, c := range m.Calls {
		parts = append(parts, "<tool_call>\n"+CallText(c.Function)+"\n</tool_call>")
	}
	return strings.Join(parts, "\n")
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
