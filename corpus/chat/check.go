package chat

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Unfit says why messages cannot be a training row. Reason is a stable
// snake_case word that drops are counted by.
type Unfit struct {
	Reason string
	Detail string
}

// Error gives the reason and what it was found in.
func (u *Unfit) Error() string {
	return strings.TrimSuffix("unfit for a row: "+u.Reason+": "+u.Detail, ": ")
}

// The reasons for which messages are no row.
const (
	// ReasonNoAssistant: the model never spoke.
	ReasonNoAssistant = "no_assistant_turn"
	// ReasonEmpty: a message with neither text nor reasoning nor calls.
	ReasonEmpty = "empty_message"
	// ReasonOrder: roles in an order that templates refuse.
	ReasonOrder = "roles_out_of_order"
	// ReasonUnanswered: a call without its answer in the next turn.
	ReasonUnanswered = "unanswered_call"
	// ReasonOrphan: a result that answers no open call.
	ReasonOrphan = "orphan_result"
	// ReasonID: two calls with one id, or a call without.
	ReasonID = "repeated_call_id"
	// ReasonArguments: arguments that are no JSON object.
	ReasonArguments = "arguments_not_object"
	// ReasonInfinite: arguments with a number beyond a float64, such as 1e400,
	// which loaders read as infinity or refuse.
	ReasonInfinite = "infinite_number"
	// ReasonNull: a null argument that the tool's schema does not allow.
	ReasonNull = "null_argument"
	// ReasonUndeclared: a tool that the harness does not have.
	ReasonUndeclared = "undeclared_tool"
	// ReasonControl: text that a tokenizer reads as a control token, such as
	// <|im_end|>. It would end a turn in the middle.
	ReasonControl = "control_token"
	// ReasonMarkup: the model's own text holds the tags that templates write
	// around thinking and calls, so that reading the row back finds other calls
	// than were made.
	ReasonMarkup = "markup_in_text"
)

// Schema is what the checks need of tool definitions: for each tool, which of
// its arguments may be null.
type Schema map[string]map[string]bool

// ParseSchema reads OpenAI tool definitions, nested under "function" or flat.
// What it cannot read declares nothing.
func ParseSchema[S ~string](tools []S) Schema {
	out := make(Schema, len(tools))
	for _, t := range tools {
		var nested struct{ Function json.RawMessage }
		body := []byte(t)
		if json.Unmarshal(body, &nested) == nil && nested.Function != nil {
			body = nested.Function
		}
		var def struct {
			Name       string
			Parameters struct {
				Properties map[string]struct{ Type json.RawMessage }
			}
		}
		if json.Unmarshal(body, &def) != nil || def.Name == "" {
			continue
		}
		out[def.Name] = map[string]bool{}
		for k, p := range def.Parameters.Properties {
			out[def.Name][k] = p.Type == nil || strings.Contains(string(p.Type), `"null"`)
		}
	}
	return out
}

// Check holds messages against what every trainer's template takes: system?
// user (assistant (tool+ user? assistant)*)+, each call answered in the next turn
// by its id, the last message the assistant's. Calls of the last message need no
// answer. A nil schema leaves the tools unchecked.
func Check(ms []Message, schema Schema) error {
	if len(ms) == 0 || ms[len(ms)-1].Role != Assistant {
		return &Unfit{Reason: ReasonNoAssistant}
	}
	walk := walker{ids: map[string]bool{}, schema: schema}
	for i := range ms {
		if err := walk.step(&ms[i]); err != nil {
			return err
		}
	}
	return nil
}

// walker follows the roles: open are the calls that await an answer.
type walker struct {
	before string
	open   map[string]bool
	ids    map[string]bool
	schema Schema
}

func (w *walker) step(m *Message) error {
	if m.Role != Tool && len(w.open) > 0 {
		return &Unfit{Reason: ReasonUnanswered}
	}
	if !w.follows(m.Role) {
		return &Unfit{ReasonOrder, m.Role + " after " + w.before}
	}
	w.before = m.Role
	if hasControlToken(m.Content) || hasControlToken(m.Reasoning) {
		return &Unfit{Reason: ReasonControl}
	}
	switch m.Role {
	case Tool:
		if !w.open[m.CallID] {
			return &Unfit{ReasonOrphan, m.CallID}
		}
		delete(w.open, m.CallID)
		return nil
	case Assistant:
		return w.assistant(m)
	default:
		if m.Content == "" {
			return &Unfit{ReasonEmpty, m.Role}
		}
		return nil
	}
}

func (w *walker) follows(role string) bool {
	switch role {
	case System:
		return w.before == ""
	case User:
		return w.before != User
	case Assistant:
		return w.before == User || w.before == Tool
	default:
		return role == Tool && (w.before == Assistant || w.before == Tool)
	}
}

func (w *walker) assistant(m *Message) error {
	if m.Content == "" && m.Reasoning == "" && len(m.Calls) == 0 {
		return &Unfit{ReasonEmpty, m.Role}
	}
	if hasMarkup(m.Content) || hasMarkup(m.Reasoning) {
		return &Unfit{Reason: ReasonMarkup}
	}
	w.open = make(map[string]bool, len(m.Calls))
	for _, c := range m.Calls {
		if c.ID == "" || w.ids[c.ID] {
			return &Unfit{ReasonID, c.ID}
		}
		w.ids[c.ID], w.open[c.ID] = true, true
		if err := w.call(c.Function); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) call(f Function) error {
	if hasControlToken(f.Name) || hasControlToken(string(f.Arguments)) {
		return &Unfit{Reason: ReasonControl}
	}
	text := string(f.Arguments)
	switch {
	case arena.Raw(text).Kind() != arena.Object || !cursor.Valid(text):
		return &Unfit{ReasonArguments, f.Name}
	case !cursor.Finite(text):
		return &Unfit{ReasonInfinite, f.Name}
	case w.schema == nil:
		return nil
	}
	nullable, known := w.schema[f.Name]
	if !known {
		return &Unfit{ReasonUndeclared, f.Name}
	}
	for k, v := range gjson.ParseBytes(f.Arguments).ForEach {
		if v.Type == gjson.Null && !nullable[k.Str] {
			return &Unfit{ReasonNull, f.Name + "." + k.Str}
		}
	}
	return nil
}

// controlToken is the form in which the tokenizers of chat models write their control
// tokens.
var controlToken = regexp.MustCompile(`<\|[A-Za-z0-9_]+\|>`)

// hasControlToken looks for its beginning first, which texts seldom hold.
func hasControlToken(s string) bool { return strings.Contains(s, "<|") && controlToken.MatchString(s) }

func hasMarkup(s string) bool {
	tags := []string{"<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"}
	return slices.ContainsFunc(tags, func(tag string) bool { return strings.Contains(s, tag) })
}
