package chat

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// sourceProfile is the harness profile of rows whose system prompt and tools
// are those that the trace itself records.
const sourceProfile = "source"

// SourceHarness is what the agent of a trace was given. Its SHA256 stays empty:
// system prompts may differ from trace to trace, and schemas are kept by hash.
// Tools that were called and that the source does not declare are declared from
// their calls, and named: without a definition no template renders them.
func SourceHarness(t *arena.Trace, d *arena.Dialogue) (h arena.Harness, derived []string) {
	h = arena.Harness{Name: sourceProfile, System: t.System, Tools: definitions(t.Tools)}
	known := ParseSchema(h.Tools)
	seen := map[string]map[string]json.RawMessage{}
	for _, turn := range d.Turns {
		for _, call := range turn.Calls {
			if _, declared := known[call.Name]; !declared {
				observe(seen, call)
			}
		}
	}
	derived = slices.Sorted(maps.Keys(seen))
	for _, name := range derived {
		h.Tools = append(h.Tools, observed(name, seen[name]))
	}
	return h, derived
}

// observe notes the arguments of a call to a tool. Any type may stand in them:
// a few calls do not tell which may not.
func observe(seen map[string]map[string]json.RawMessage, call arena.Call) {
	if seen[call.Name] == nil {
		seen[call.Name] = map[string]json.RawMessage{}
	}
	gjson.Parse(string(call.Arguments)).ForEach(func(key, _ gjson.Result) bool {
		seen[call.Name][key.Str] = json.RawMessage("{}")
		return true
	})
}

// observed is the definition of a tool of which calls alone are known.
func observed(name string, arguments map[string]json.RawMessage) arena.Raw {
	text, err := Marshal(map[string]any{"type": "function", "function": map[string]any{
		"name": name, "parameters": map[string]any{"type": "object", "properties": arguments}}})
	if err != nil { // strings and empty objects always encode
		return ""
	}
	return arena.Raw(text)
}

// definitions are the items of a list of tools, each in OpenAI's nested form.
func definitions(list arena.Raw) []arena.Raw {
	var out []arena.Raw
	gjson.Parse(string(list)).ForEach(func(_, def gjson.Result) bool {
		out = append(out, compact(nested(def)))
		return true
	})
	return out
}

// nested puts a flat definition under "function", where templates look.
func nested(def gjson.Result) string {
	if !def.IsObject() || def.Get("function").Exists() || !def.Get("name").Exists() {
		return def.Raw
	}
	var members []string
	def.ForEach(func(key, value gjson.Result) bool {
		if key.Str != "type" {
			members = append(members, key.Raw+":"+value.Raw)
		}
		return true
	})
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
