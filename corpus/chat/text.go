package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Turn is one message of the text form, and of the encodings that every loader
// reads: two strings.
type Turn struct {
	Role    string `json:"role" parquet:"role"`
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
	if system != "" {
		system += "\n\n"
	}
	return system + "# Tools\n\nThese functions may be called, one JSON definition a line:\n<tools>\n" + strings.Join(tools, "\n") +
		"\n</tools>\n\nWrite each call as one JSON object with its name and arguments:\n<tool_call>\n" +
		`{"name": "<function>", "arguments": {<arguments>}}` + "\n</tool_call>"
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
	parts := make([]string, 0, 4*len(results))
	for i := range results {
		parts = append(parts, "\n", "<tool_response>\n", results[i].Content, "\n</tool_response>")
	}
	return strings.Join(parts[min(1, len(parts)):], "")
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
	name, err := Marshal(f.Name)
	c := cursor.New(cmp.Or(string(f.Arguments), "null"), textLimits)
	args := c.Compact()
	if err != nil || c.End() != nil { // arguments that Check refuses
		return "{}"
	}
	return `{"name":` + name + `,"arguments":` + args + "}"
}

// sourceProfile is the harness profile of rows whose system prompt and tools
// are those that the trace itself records.
const sourceProfile = "source"

// SourceHarness is what the agent of a trace was given. Its SHA256 stays empty:
// system prompts may differ from trace to trace, and schemas are kept by hash.
// Tools that were called and that the source does not declare are declared from
// their calls, and named: without a definition no template renders them.
func SourceHarness(t *arena.Trace, d *arena.Dialogue) (h arena.Harness, derived []string) {
	h = arena.Harness{Name: sourceProfile, System: t.System}
	for _, def := range gjson.Parse(string(t.Tools)).ForEach {
		h.Tools = append(h.Tools, compact(nested(def)))
	}
	known := ParseSchema(h.Tools)
	// Any type may stand in an argument: a few calls do not tell which may not.
	seen := map[string]map[string]struct{}{}
	for _, turn := range d.Turns {
		for _, call := range turn.Calls {
			if _, declared := known[call.Name]; declared {
				continue
			}
			if seen[call.Name] == nil {
				seen[call.Name] = map[string]struct{}{}
			}
			for key := range gjson.Parse(string(call.Arguments)).ForEach {
				seen[call.Name][key.Str] = struct{}{}
			}
		}
	}
	derived = slices.Sorted(maps.Keys(seen))
	for _, name := range derived {
		text, _ := Marshal(map[string]any{"type": "function", "function": map[string]any{ // strings and empty objects always encode
			"name": name, "parameters": map[string]any{"type": "object", "properties": seen[name]}}})
		h.Tools = append(h.Tools, arena.Raw(text))
	}
	return h, derived
}

// nested puts a flat definition under "function", where templates look.
func nested(def gjson.Result) string {
	if !def.IsObject() || def.Get("function").Exists() || !def.Get("name").Exists() {
		return def.Raw
	}
	var members []string
	for key, value := range def.ForEach {
		if key.Str != "type" {
			members = append(members, key.Raw+":"+value.Raw)
		}
	}
	return `{"type":"function","function":{` + strings.Join(members, ",") + `}}`
}

// compact is JSON without space between its values, as writers of JSON put it
// when it passes through them.
func compact(text string) arena.Raw {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return arena.Raw(text)
	}
	return arena.Raw(b.String())
}
