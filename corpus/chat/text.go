package chat

import (
	"encoding/json"
	"strings"

	"github.com/trajectory-arena/arena/internal/cursor"
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
	return form(ms, tools, plain)
}

// plain appends a text that is what it means.
func plain(b *strings.Builder, text string) { b.WriteString(text) }

// TextOf is the text form of messages as they are written.
func TextOf(ms []Written, tools []string) []Turn { return form(ms, tools, cursor.Unescape) }

// speech appends a text of a message.
type speech func(b *strings.Builder, text string)

func form[M Message | Written](ms []M, tools []string, say speech) []Turn {
	out := make([]Turn, 0, 1+len(ms))
	if len(tools) > 0 && (len(ms) == 0 || Message(ms[0]).Role != System) {
		out = append(out, Turn{System, SystemText("", tools)})
	}
	for i := 0; i < len(ms); i++ {
		switch m := Message(ms[i]); m.Role {
		case System:
			out = append(out, Turn{System, SystemText(say.alone(m.Content), tools)})
		case Assistant:
			out = append(out, Turn{Assistant, assistantText(&m, say)})
		case Tool:
			n := Answers(ms[i:])
			out = append(out, Turn{User, responses(ms[i:i+n], say)})
			i += n - 1
		default:
			text := say.alone(m.Content)
			if last := len(out) - 1; last >= 0 && out[last].Role == User {
				out[last].Content += "\n" + text
				continue
			}
			out = append(out, Turn{User, text})
		}
	}
	return out
}

func (say speech) alone(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	say(&b, text)
	return b.String()
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
func Answers[M Message | Written](ms []M) (n int) {
	for n < len(ms) && Message(ms[n]).Role == Tool {
		n++
	}
	return n
}

func responses[M Message | Written](results []M, say speech) string {
	const open, end = "<tool_response>\n", "\n</tool_response>"
	size := 0
	for i := range results {
		size += len(open) + len(Message(results[i]).Content) + len(end) + 1
	}
	var b strings.Builder
	b.Grow(size)
	for i := range results {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(open)
		say(&b, Message(results[i]).Content)
		b.WriteString(end)
	}
	return b.String()
}

func assistantText(m *Message, say speech) string {
	var b strings.Builder
	b.Grow(len(m.Reasoning) + len(m.Content) + 64) // the tags of thinking
	part := func(open, text, end string, say speech) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(open)
		say(&b, text)
		b.WriteString(end)
	}
	if m.Reasoning != "" {
		part("<think>\n", m.Reasoning, "\n</think>\n", say)
	}
	if m.Content != "" {
		part("", m.Content, "", say)
	}
	for _, c := range m.Calls {
		part("<tool_call>\n", CallText(c.Function), "\n</tool_call>", plain)
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
