package dialect

import (
	"strings"

	"github.com/trajectory-arena/arena"
)

// formats say how each text dialect writes a call. Native needs no words, and
// auto leaves them to the server's own template.
var formats = map[Dialect]string{
	Oro: `How to answer
Write <think>your thoughts</think>, then your calls as one JSON list:
<tool_call>[{"name": "tool name", "parameters": {"parameter": "value"}}]</tool_call>
If you have something to tell the customer, add <response>text</response>. The results come back in <obs>…</obs>.`,
	Hermes: `How to answer
For each call write one JSON object between tags:
<tool_call>
{"name": "tool name", "arguments": {"parameter": "value"}}
</tool_call>
The results come back in <obs>…</obs>.`,
}

// SendsTools reports whether a request carries tool definitions.
func (d Dialect) SendsTools() bool { return d == Auto || d == Native }

// System is the system prompt of a harness in this dialect: with the tools and
// the form of a call in words where the request does not carry them.
func (d Dialect) System(h arena.Harness) string {
	if d.SendsTools() {
		return h.System
	}
	var b strings.Builder
	b.WriteString(h.System)
	b.WriteString("\n\nTools, one JSON definition a line:\n<tools>\n")
	for _, t := range h.Tools {
		b.WriteString(string(t) + "\n")
	}
	b.WriteString("</tools>\n\n" + formats[d])
	return b.String()
}
