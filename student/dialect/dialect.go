// Package dialect reads tool calls out of a model's reply, strictly: what a
// model did not write correctly is a malformed call, never mended.
package dialect

import (
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/shop"
)

// Dialect is a way of writing tool calls.
type Dialect string

// The dialects. Auto accepts any of the others, whichever the reply is written in.
const (
	Auto   Dialect = "auto"
	Native Dialect = "native"
	// Oro is <tool_call>[{"name", "parameters"}…]</tool_call>.
	Oro Dialect = "oro"
	// Hermes is <tool_call>{"name", "arguments"}</tool_call>, once per call, in the words and
	// wrappings of the export profile text.
	Hermes Dialect = "hermes"
	// Text is another name of Hermes, that of the profile.
	Text Dialect = "text"
)

// All lists the dialects, the default first.
func All() []Dialect { return []Dialect{Auto, Native, Oro, Hermes, Text} }

// Turn is a reply, read.
type Turn struct {
	// Think is the model's reasoning, Text its text outside of calls.
	Think string
	Text  string
	Calls []Call
	// Native reports whether the calls are native ones, which tool messages answer.
	Native bool
}

// Call is one call, or what was meant to be one.
type Call struct {
	// ID is the model's own id of a native call, otherwise computed from name and arguments.
	ID        string
	Name      string
	Arguments python.Value
	// Malformed is the reason why the call cannot be read; empty if it can.
	Malformed string
}

// Read parses a reply. A reply of more than 256 calls is read as one malformed call.
func Read(r model.Reply, d Dialect) Turn {
	think, remaining := thinking(r.Content)
	t := Turn{
		Think: text.Join(r.Reasoning, "\n\n", think),
		Text:  strings.TrimSpace(remaining),
	}
	switch {
	case len(r.Calls) > model.MaxCalls:
		t.Calls = []Call{tooMany()}
	case len(r.Calls) > 0 && (d == Auto || d == Native):
		t.Native = true
		for _, c := range r.Calls {
			t.Calls = append(t.Calls, native(c))
		}
	case d == Native:
	case strings.Contains(remaining, openTag):
		t.Text, t.Calls = tagged(remaining, d)
	}
	if len(t.Calls) > model.MaxCalls {
		t.Calls = []Call{tooMany()}
	}
	return t
}

func tooMany() Call {
	return malformed("", fmt.Sprintf("a reply holds at most %d calls", model.MaxCalls))
}

const (
	openThink, closeThink = "<think>", "</think>"
	openTag, closeTag     = "<tool_call>", "</tool_call>"
)

// thinking splits a reply into the reasoning in its <think> blocks and the remaining text. What a
// block contains is reasoning, even if it looks like a call. A closing tag without an opening one
// ends a block that began with the reply, since a chat template may have opened it. An unclosed
// block extends to the end.
func thinking(content string) (think, remaining string) {
	var thoughts []string
	var spoken strings.Builder
	if before, after, closed := strings.Cut(content, closeThink); closed && !strings.Contains(before, openThink) {
		thoughts, content = append(thoughts, strings.TrimSpace(before)), after
	}
	for opened := true; opened; {
		var lead, inner string
		lead, inner, opened = strings.Cut(content, openThink)
		spoken.WriteString(lead)
		inner, content, _ = strings.Cut(inner, closeThink)
		if inner = strings.TrimSpace(inner); inner != "" {
			thoughts = append(thoughts, inner)
		}
	}
	return strings.Join(thoughts, "\n\n"), spoken.String()
}

func native(c model.Call) Call {
	out := Call{ID: c.ID, Name: c.Function.Name}
	var err error
	if isEmpty(c.Function.Arguments) {
		out.Arguments = python.DictOf()
	} else if out.Arguments, err = python.Loads(c.Function.Arguments); err != nil {
		out.Malformed, out.Arguments = err.Error(), python.String(c.Function.Arguments)
	} else if out.Arguments.Kind != python.Dict {
		out.Malformed = notAnObject(out.Arguments)
	}
	if out.ID == "" {
		out.ID = shop.CallID(out.Name, out.Arguments)
	}
	return out
}

// isEmpty reports whether the text of a call's arguments contains no arguments: servers and models
// then write an empty text or null.
func isEmpty(arguments string) bool {
	arguments = strings.TrimSpace(arguments)
	return arguments == "" || arguments == "null"
}

func notAnObject(v python.Value) string {
	return "arguments must be a JSON object, not " + v.TypeName()
}

func tagged(markup string, d Dialect) (text string, calls []Call) {
	var outside strings.Builder
	for {
		before, after, ok := strings.Cut(markup, openTag)
		outside.WriteString(before)
		if !ok {
			return visibleText(outside.String()), calls
		}
		body, next, closed := strings.Cut(after, closeTag)
		if !closed {
			return visibleText(outside.String()), append(calls, malformed(body, "the tool_call tag is never closed"))
		}
		calls = append(calls, block(strings.TrimSpace(body), d)...)
		markup = next
	}
}

// visibleText returns the text of a reply that the customer reads, without <response> tags and
// surrounding white space.
func visibleText(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "<response>", ""), "</response>", "")
	return strings.TrimSpace(text)
}

func malformed(text, why string) Call {
	v := python.String(text)
	return Call{
		ID:        shop.CallID("", v),
		Arguments: v,
		Malformed: why,
	}
}

func block(body string, d Dialect) []Call {
	v, err := python.Loads(body)
	if err != nil {
		return []Call{malformed(body, err.Error())}
	}
	values := []python.Value{v}
	if v.Kind == python.List {
		if d.OfText() || len(v.List) == 0 {
			return []Call{malformed(body, "a tool_call holds one call, not a list")}
		}
		values = v.List
	}
	return slicesx.Map(values, func(c python.Value) Call {
		return object(c, d)
	})
}

// keys are, for each dialect (a way of writing tool calls), the JSON keys under which a call in
// text may have its arguments, in the order in which they are tried.
var keys = map[Dialect][]string{
	Auto: {"parameters", "arguments"}, Native: {"parameters", "arguments"}, Oro: {"parameters"},
	Hermes: {"arguments"}, Text: {"arguments"},
}

func object(v python.Value, d Dialect) Call {
	name, ok := v.Get("name")
	if !ok || name.Kind != python.Str {
		return malformed(python.Dumps(v), "a call needs a name")
	}
	for _, k := range keys[d] {
		if arguments, ok := v.Get(k); ok {
			if arguments.Kind == python.None || arguments.Kind == python.Str && isEmpty(arguments.Text) {
				arguments = python.DictOf()
			}
			c := Call{
				ID:        shop.CallID(name.Text, arguments),
				Name:      name.Text,
				Arguments: arguments,
			}
			if arguments.Kind != python.Dict {
				c.Malformed = notAnObject(arguments)
			}
			return c
		}
	}
	if len(v.Dict) == 1 {
		arguments := python.DictOf()
		return Call{
			ID:        shop.CallID(name.Text, arguments),
			Name:      name.Text,
			Arguments: arguments,
		}
	}
	return malformed(python.Dumps(v), "a call needs "+strings.Join(keys[d], " or "))
}

// oroFormat is, for the dialect Oro (a way of writing tool calls), the instruction in the system
// prompt on how to write a call. Native and Auto need none, since the server's chat template
// describes calls; Hermes and Text have that of the export profile text.
const oroFormat = `How to answer
Write <think>your thoughts</think>, then your calls as one JSON list:
<tool_call>[{"name": "tool name", "parameters": {"parameter": "value"}}]</tool_call>
If you have something to tell the customer, add <response>text</response>. The results come back in <obs>…</obs>.`

// SendsTools reports whether a request carries tool definitions.
func (d Dialect) SendsTools() bool { return d == Auto || d == Native }

// OfText reports whether prompts and results are written as in rows of the export profile text.
func (d Dialect) OfText() bool { return d == Hermes || d == Text }

// System returns the system prompt of a harness in this dialect, with a description of tools
// and calls if the request does not carry them.
func (d Dialect) System(h arena.Harness) string {
	if d.SendsTools() {
		return h.System
	}
	tools := slicesx.Map(h.Tools, func(t arena.Raw) string { return string(t) })
	if d.OfText() {
		return calls.AppendTools(h.System, tools)
	}
	return h.System + "\n\nTools, one JSON definition a line:\n<tools>\n" + strings.Join(tools, "\n") + "\n</tools>\n\n" + oroFormat
}
