package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Turn is a message of two strings, which every loader can read.
type Turn struct {
	Role    string `json:"role" parquet:"role"`
	Content string `json:"content" parquet:"content"`
}

// Text returns messages as turns of alternating roles, each with a role and a text only, which
// all loaders read in the same way. The system turn contains the tools, assistant turns contain
// reasoning and calls, and user turns contain results before the user's text. The tags are those
// of the Qwen and Hermes families. If there are tools but no system prompt, the first turn is a
// system turn with the tools.
func Text(ms []Message, tools []string) []Turn {
	out := make([]Turn, 0, 1+len(ms))
	if len(tools) > 0 && (len(ms) == 0 || ms[0].Role != System) {
		out = append(out, Turn{System, calls.AppendTools("", tools)})
	}
	for i := 0; i < len(ms); i++ {
		switch m := &ms[i]; m.Role {
		case System:
			out = append(out, Turn{System, calls.AppendTools(m.Content, tools)})
		case Assistant:
			out = append(out, Turn{Assistant, assistantText(m)})
		case Tool:
			n := CountResults(ms[i:])
			out = append(out, Turn{User, ResultsText(ms[i : i+n])})
			i += n - 1
		default:
			last := len(out) - 1
			if last >= 0 && out[last].Role == User {
				out[last].Content += "\n" + m.Content
				continue
			}
			out = append(out, Turn{User, m.Content})
		}
	}
	return out
}

// CountResults returns the number of tool results at the start of ms.
func CountResults(ms []Message) int {
	n := 0
	for n < len(ms) && ms[n].Role == Tool {
		n++
	}
	return n
}

// ResultsText returns tool results as the text of one user turn.
func ResultsText(results []Message) string {
	parts := make([]string, 0, 4*len(results))
	for i := range results {
		parts = append(parts, "\n", "<tool_response>\n", results[i].Content, "\n</tool_response>")
	}
	return strings.TrimPrefix(strings.Join(parts, ""), "\n")
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

// CallText returns a call as a JSON object with name and arguments. It returns {} if the
// arguments are not valid JSON. Check rejects such calls.
func CallText(f Function) string {
	name, err := Marshal(f.Name)
	c := cursor.New(cmp.Or(string(f.Arguments), "null"), textLimits)
	args := c.Compact()
	if err != nil || c.End() != nil {
		return "{}"
	}
	return `{"name":` + name + `,"arguments":` + args + "}"
}

// sourceProfile is the name of a harness (system prompt and tools) that SourceHarness derives from
// what an attempt itself contains, for attempts without a known harness.
const sourceProfile = "source"

// SourceHarness returns the harness of a trace: the system prompt and the tools that the trace
// records. Templates render only tools with a definition, so definitions of other called tools
// are derived from their calls; derived has the names of these tools. SHA256 is empty, since
// system prompts may differ from trace to trace and schemas are cached by that hash.
func SourceHarness(t *arena.Trace, d *arena.Dialogue) (h arena.Harness, derived []string) {
	h = arena.Harness{Name: sourceProfile, System: t.System}
	for _, def := range gjson.Parse(string(t.Tools)).ForEach {
		h.Tools = append(h.Tools, compact(nestDefinition(def)))
	}
	missing := undeclaredTools(d, ParseSchema(h.Tools))
	derived = slicesx.SortedKeys(missing)
	for _, name := range derived {
		h.Tools = append(h.Tools, deriveDefinition(name, missing[name]))
	}
	return h, derived
}

// argumentNames is the set of a tool's argument names. Its JSON is the properties of a JSON
// schema that allows any type, since a few calls do not show which types a tool accepts.
type argumentNames map[string]struct{}

// undeclaredTools returns the tools that a dialogue calls although they are not in declared, so
// that definitions can be made for them. Each has the names of the arguments in its calls.
func undeclaredTools(d *arena.Dialogue, declared Schema) map[string]argumentNames {
	out := map[string]argumentNames{}
	for _, turn := range d.Turns {
		for _, call := range turn.Calls {
			if _, ok := declared[call.Name]; ok {
				continue
			}
			if out[call.Name] == nil {
				out[call.Name] = argumentNames{}
			}
			for key := range gjson.Parse(string(call.Arguments)).ForEach {
				out[call.Name][key.Str] = struct{}{}
			}
		}
	}
	return out
}

func deriveDefinition(name string, args argumentNames) arena.Raw {
	parameters := map[string]any{"type": "object", "properties": args}
	function := map[string]any{"name": name, "parameters": parameters}
	text, _ := Marshal(map[string]any{"type": "function", "function": function}) // strings and empty objects always encode
	return arena.Raw(text)
}

// nestDefinition returns a tool definition with its name and parameters under "function", where
// chat templates expect them. A definition that is not a flat JSON object is returned unchanged.
func nestDefinition(def gjson.Result) string {
	isFlat := def.IsObject() && !def.Get("function").Exists() && def.Get("name").Exists()
	if !isFlat {
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

// compact returns JSON without white space between its values. It returns text unchanged if it
// is not valid JSON.
func compact(text string) arena.Raw {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return arena.Raw(text)
	}
	return arena.Raw(b.String())
}
