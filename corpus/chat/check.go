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

// Unfit is the error for messages that cannot become a training row.
type Unfit struct {
	Reason string // stable snake_case code, by which drops are counted
	Detail string // the offending role, tool or id; may be empty
}

// Error returns the reason and the detail as a sentence.
func (u *Unfit) Error() string {
	return strings.TrimSuffix("unfit for a row: "+u.Reason+": "+u.Detail, ": ")
}

// The values of Unfit.Reason.
const (
	// ReasonNoAssistant: there is no turn of the assistant.
	ReasonNoAssistant = "no_assistant_turn"
	// ReasonEmpty: a message has neither text nor reasoning nor calls.
	ReasonEmpty = "empty_message"
	// ReasonOrder: the roles have an order that chat templates reject.
	ReasonOrder = "roles_out_of_order"
	// ReasonUnanswered: the next turn lacks the result of a call.
	ReasonUnanswered = "unanswered_call"
	// ReasonOrphan: a result belongs to no open call.
	ReasonOrphan = "orphan_result"
	// ReasonID: two calls have the same id, or a call has none.
	ReasonID = "repeated_call_id"
	// ReasonArguments: arguments are not a JSON object.
	ReasonArguments = "arguments_not_object"
	// ReasonMasked: the author of the data took every turn of the model out of training.
	ReasonMasked = "masked"
	// ReasonInfinite: arguments contain a number beyond a float64, such as 1e400,
	// which loaders read as infinity or reject.
	ReasonInfinite = "infinite_number"
	// ReasonNull: an argument is null although the tool's schema forbids it.
	ReasonNull = "null_argument"
	// ReasonUndeclared: a called tool is not defined in the harness.
	ReasonUndeclared = "undeclared_tool"
	// ReasonControl: a text contains what a tokenizer reads as a control token, such as
	// <|im_end|>. It would end the turn early.
	ReasonControl = "control_token"
	// ReasonMarkup: a text of the model contains the tags that templates write around
	// reasoning and calls. A parser of the row would find other calls than the model made.
	ReasonMarkup = "markup_in_text"
)

// Schema tells, for each tool and argument, whether the argument may be null.
type Schema map[string]map[string]bool

// ParseSchema reads OpenAI tool definitions, flat or nested under "function". It skips
// definitions that it cannot read.
func ParseSchema[S ~string](tools []S) Schema {
	schema := make(Schema, len(tools))
	for _, t := range tools {
		body := []byte(t)
		var nested struct{ Function json.RawMessage }
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
		nullable := map[string]bool{}
		for name, p := range def.Parameters.Properties {
			nullable[name] = p.Type == nil || strings.Contains(string(p.Type), `"null"`)
		}
		schema[def.Name] = nullable
	}
	return schema
}

// Check returns an *Unfit error unless the chat template of every trainer accepts the messages.
// Their roles must be: system? user (assistant (tool+ user? assistant)*)+. The next turn must
// answer each call by its id. The last message must be the assistant's, and its calls need no
// answer. A nil schema disables the checks of tools.
func Check(ms []Message, schema Schema) error {
	if len(ms) == 0 || ms[len(ms)-1].Role != Assistant {
		return &Unfit{Reason: ReasonNoAssistant}
	}
	c := checker{ids: map[string]bool{}, schema: schema}
	for i := range ms {
		if err := c.message(&ms[i]); err != nil {
			return err
		}
	}
	return nil
}

// checker is the state while the messages of one row are checked in order: the role of the previous
// message and the ids of the tool calls so far.
type checker struct {
	prevRole string          // of the previous message, "" before the first
	open     map[string]bool // ids of the calls without an answer so far
	ids      map[string]bool // ids of all calls so far
	schema   Schema
}

func (c *checker) message(m *Message) error {
	if m.Role != Tool && len(c.open) > 0 {
		return &Unfit{Reason: ReasonUnanswered}
	}
	if !c.allowsNext(m.Role) {
		return &Unfit{ReasonOrder, m.Role + " after " + c.prevRole}
	}
	c.prevRole = m.Role
	if hasControlToken(m.Content) || hasControlToken(m.Reasoning) {
		return &Unfit{Reason: ReasonControl}
	}
	switch m.Role {
	case Tool:
		if !c.open[m.CallID] {
			return &Unfit{ReasonOrphan, m.CallID}
		}
		delete(c.open, m.CallID)
		return nil
	case Assistant:
		return c.assistant(m)
	default:
		if m.Content == "" {
			return &Unfit{ReasonEmpty, m.Role}
		}
		return nil
	}
}

// allowsNext reports whether a message with this role may follow the previous one.
func (c *checker) allowsNext(role string) bool {
	switch role {
	case System:
		return c.prevRole == ""
	case User:
		return c.prevRole != User
	case Assistant:
		return c.prevRole == User || c.prevRole == Tool
	case Tool:
		return c.prevRole == Assistant || c.prevRole == Tool
	default:
		return false
	}
}

func (c *checker) assistant(m *Message) error {
	if m.Content == "" && m.Reasoning == "" && len(m.Calls) == 0 {
		return &Unfit{ReasonEmpty, m.Role}
	}
	if hasMarkup(m.Content) || hasMarkup(m.Reasoning) {
		return &Unfit{Reason: ReasonMarkup}
	}
	c.open = make(map[string]bool, len(m.Calls))
	for _, call := range m.Calls {
		if call.ID == "" || c.ids[call.ID] {
			return &Unfit{ReasonID, call.ID}
		}
		c.ids[call.ID] = true
		c.open[call.ID] = true
		if err := c.function(call.Function); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) function(f Function) error {
	if hasControlToken(f.Name) || hasControlToken(string(f.Arguments)) {
		return &Unfit{Reason: ReasonControl}
	}
	text := string(f.Arguments)
	if arena.Raw(text).Kind() != arena.Object || !cursor.Valid(text) {
		return &Unfit{ReasonArguments, f.Name}
	}
	if !cursor.Finite(text) {
		return &Unfit{ReasonInfinite, f.Name}
	}
	if c.schema == nil {
		return nil
	}
	nullable, ok := c.schema[f.Name]
	if !ok {
		return &Unfit{ReasonUndeclared, f.Name}
	}
	for key, value := range gjson.ParseBytes(f.Arguments).ForEach {
		if value.Type == gjson.Null && !nullable[key.Str] {
			return &Unfit{ReasonNull, f.Name + "." + key.Str}
		}
	}
	return nil
}

// controlToken matches control tokens of chat models, such as <|im_end|>.
var controlToken = regexp.MustCompile(`<\|[A-Za-z0-9_]+\|>`)

// hasControlToken reports whether s contains a control token such as <|im_end|>. For speed it
// searches for "<|" before it uses the regular expression.
func hasControlToken(s string) bool { return strings.Contains(s, "<|") && controlToken.MatchString(s) }

// hasMarkup reports whether s contains a tag that chat templates write, such as <think> or
// </tool_call>.
func hasMarkup(s string) bool {
	tags := []string{"<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"}
	return slices.ContainsFunc(tags, func(tag string) bool {
		return strings.Contains(s, tag)
	})
}
