package calls_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

// render writes one call in each calls.
var render = map[string]func(name, q string) string{
	"list": func(name, q string) string {
		return "<think>t</think><tool_call>[" + object(name, "parameters", q) + "]</tool_call>"
	},
	"hermes": func(name, q string) string {
		return "<tool_call>\n" + object(name, "arguments", q) + "\n</tool_call>"
	},
	"react": func(name, q string) string {
		return "Thought: t\nAction: " + name + "\nAction Input: " + marshal(map[string]string{"q": q})
	},
	"fenced": func(name, q string) string {
		return "words\n```json\n[" + object(name, "parameters", q) + "]\n```"
	},
	"bare": func(name, q string) string { return object(name, "arguments", q) },
	"native": func(name, q string) string {
		args := marshal(marshal(map[string]string{"q": q}))
		return fmt.Sprintf(`[{"id": "c", "type": "function", "function": {"name": %s, "arguments": %s}}]`, marshal(name), args)
	},
	"python": func(name, q string) string {
		quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(q)
		return "<tool_call>[{'name': '" + name + "', 'parameters': {'q': '" + quoted + "',}}]</tool_call>"
	},
}

func object(name, key, q string) string {
	return `{"name": ` + marshal(name) + `, "` + key + `": ` + marshal(map[string]string{"q": q}) + `}`
}

// marshal leaves < and > alone, as Python's encoder does.
func marshal(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n")
}

// FuzzRenderedIsReadBack holds that a call written in any dialect is read back with its name and
// its argument, for any content of the argument.
func FuzzRenderedIsReadBack(f *testing.F) {
	for _, q := range []string{"lamp", `men's "best"`, "a\\b", "line\nbreak", "ünï", `{"x": [1]}`, "Action: x", "```", "a < b > c", "\u2028"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		if !utf8.ValidString(q) || strings.ContainsAny(q, "\x00") {
			t.Skip("a model's text is valid Unicode")
		}
		for name, write := range render {
			if skips(name, q) {
				continue
			}
			text := write("find_product", q)
			r := calls.Mended(text)
			if len(r.Calls) != 1 || len(r.Faults) != 0 {
				t.Fatalf("%s: %d calls, faults %v from %q", name, len(r.Calls), r.Faults, text)
			}
			c := r.Calls[0]
			if got := gjson.Get(string(c.Arguments), "q").Str; c.Name != "find_product" || got != q {
				t.Fatalf("%s: read %s(%q) from %q, want %q", name, c.Name, got, text, q)
			}
		}
	})
}

// skips reports whether a dialect cannot encode an argument: a tag or fence inside of it ends the
// block for every reader, and Python's escapes cover more than quotes and backslashes.
func skips(name, q string) bool {
	lower := strings.ToLower(q)
	hasName := slices.ContainsFunc([]string{"think", "call", "obs", "response", "answer", "thought"}, func(name string) bool {
		return strings.Contains(lower, name)
	})
	if strings.Contains(q, "<") && hasName {
		return true
	}
	switch name {
	case "fenced":
		return strings.Contains(q, "```")
	case "react", "bare", "native":
		return strings.Contains(q, "`")
	case "python":
		return strings.ContainsFunc(q, func(r rune) bool { return r < 0x20 && r != '\n' })
	}
	return false
}

// FuzzReadNeverPanics holds that any text has a reading whose arguments are JSON objects, and the
// same reading each time.
func FuzzReadNeverPanics(f *testing.F) {
	for _, s := range []string{"", "<tool_call>", "<think><think>", "Action:", "```", "<tool_call>[{", "</tool_call>", "<tool_call>{'a':", strings.Repeat("<think>", 50), "\nAction: f\nAction Input:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := calls.Mended(s)
		for _, c := range r.Calls {
			if c.Name == "" || c.Arguments.Kind() != arena.Object || !gjson.Valid(string(c.Arguments)) {
				t.Fatalf("call %q with arguments %q", c.Name, c.Arguments)
			}
		}
		if again := calls.Mended(s); len(again.Calls) != len(r.Calls) || again.Think != r.Think || again.Text != r.Text {
			t.Fatal("another answer the second time")
		}
	})
}
