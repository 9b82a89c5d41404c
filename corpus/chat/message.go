// Package chat renders dialogues as chat messages for trainers, checks such messages, and reads
// them back.
package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// The roles of a message.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
	Tool      = "tool"
)

// Message is one OpenAI chat message. Its JSON omits empty members and never contains null. The
// member content is always present.
type Message struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content,omitempty"`
	Calls     []Call `json:"tool_calls,omitempty"`
	// CallID is the id of the call that a tool message answers.
	CallID string `json:"tool_call_id,omitempty"`
	// Weight is 1 for an assistant message that counts in the loss, and 0 for one that is only
	// context. It is nil if all assistant messages count.
	Weight *int `json:"weight,omitempty"`
}

// Call is one tool call of an assistant message.
type Call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is the called tool with its arguments as a JSON object.
type Function struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Encode returns each message as a JSON object. Invalid UTF-8 is replaced by U+FFFD.
func Encode(messages []Message) ([]string, error) {
	out := make([]string, len(messages))
	for i, m := range messages {
		s, err := Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("encode message %d: %w", i, err)
		}
		out[i] = s
	}
	return out, nil
}

// decodeLimits are the limits for the JSON of a message. They are far above what a row needs,
// since an attempt has at most a few hundred calls.
var decodeLimits = cursor.Limits{
	Depth:       512,
	StringBytes: 1 << 30,
	Elements:    1 << 20,
}

// Decode reads messages that Encode wrote.
func Decode(rows []string) ([]Message, error) { return decode(rows, (*cursor.Cursor).String) }

// DecodeEscaped decodes messages like Decode, but leaves content and reasoning escaped as
// Marshal writes them, without quotes. This is faster, and sufficient for messages that are only
// checked or written as JSON again: the escapes do not change the tags and control tokens for
// which Check searches. Unescape completes the decoding.
func DecodeEscaped(rows []string) ([]Message, error) { return decode(rows, readEscaped) }

// Unescape converts messages from DecodeEscaped to the form that Decode returns.
func Unescape(escaped []Message) []Message {
	out := slices.Clone(escaped)
	for i := range out {
		out[i].Content = cursor.Unescape(out[i].Content)
		out[i].Reasoning = cursor.Unescape(out[i].Reasoning)
	}
	return out
}

// readEscaped reads a JSON string and returns its content still escaped, as Marshal would write it,
// so that it can be copied into other JSON. It returns false for any other value.
func readEscaped(c *cursor.Cursor) (string, bool) {
	text := string(c.Raw())
	if !strings.HasPrefix(text, `"`) {
		return "", false
	}
	hasSeparator := strings.Contains(text, "\xe2\x80") && strings.ContainsAny(text, "\u2028\u2029")
	if hasSeparator || c.Unusual() {
		text, _ = Marshal(cursor.Unescape(text[1 : len(text)-1])) // a string always encodes
	}
	return text[1 : len(text)-1], true
}

// stringReader is a function that reads a JSON string at the cursor and returns it and true. It
// returns false if the value is no string.
type stringReader func(*cursor.Cursor) (string, bool)

// decode decodes one message from each row, a JSON object. It reads content and reasoning with
// readText, which decides whether they are unescaped.
func decode(rows []string, readText stringReader) ([]Message, error) {
	out := make([]Message, len(rows))
	c := cursor.New("", decodeLimits)
	for i, row := range rows {
		if !utf8.ValidString(row) {
			return nil, fmt.Errorf("decode message %d: no UTF-8", i)
		}
		c.Reset(row)
		c.Reserve(len(row))
		err := out[i].decode(c, readText)
		if err = errors.Join(err, c.End()); err != nil {
			return nil, fmt.Errorf("decode message %d: %w", i, err)
		}
	}
	return out, nil
}

func (m *Message) decode(c *cursor.Cursor, readText stringReader) error {
	var firstErr error
	text := func(key string, read stringReader) string {
		s, ok := read(c)
		if !ok && firstErr == nil {
			firstErr = fmt.Errorf("%s is no string", key)
		}
		return s
	}
	isObject := c.Object(func(key string) {
		switch key {
		case "role":
			m.Role = text(key, (*cursor.Cursor).String)
		case "content":
			m.Content = text(key, readText)
		case "reasoning_content":
			m.Reasoning = text(key, readText)
		case "tool_call_id":
			m.CallID = text(key, (*cursor.Cursor).String)
		case "weight":
			weight, ok := c.Int()
			if !ok && firstErr == nil {
				firstErr = errors.New("weight is no whole number")
			}
			m.Weight = new(int(weight))
		case "tool_calls":
			c.Array(func() {
				m.Calls = append(m.Calls, decodeCall(c))
			})
		default:
			c.Skip()
		}
	})
	if !isObject && firstErr == nil {
		return errors.New("no JSON object")
	}
	return firstErr
}

func decodeCall(c *cursor.Cursor) (call Call) {
	c.Object(func(key string) {
		switch key {
		case "id":
			call.ID, _ = c.String()
		case "type":
			call.Type, _ = c.String()
		case "function":
			call.Function = decodeFunction(c)
		default:
			c.Skip()
		}
	})
	return call
}

func decodeFunction(c *cursor.Cursor) (f Function) {
	c.Object(func(key string) {
		switch key {
		case "name":
			f.Name, _ = c.String()
		case "arguments":
			f.Arguments = json.RawMessage(c.Raw())
		default:
			c.Skip()
		}
	})
	return f
}

// Marshal returns the JSON of a value without the escapes that only HTML needs.
func Marshal(v any) (string, error) {
	var b strings.Builder
	err := asjson.NewEncoder(&b).Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// Tools returns the tool definitions of a harness as strings, the type that rows have.
func Tools(h arena.Harness) []string {
	return slicesx.Map(h.Tools, func(t arena.Raw) string {
		return string(t)
	})
}

// RenameCalls replaces each call id for which isSecret returns true by an unused id such as
// call-1, both in the call and in its result. Ids remain distinct, since calls with one
// placeholder as id could not be distinguished.
func RenameCalls(ms []Message, isSecret func(id string) bool) {
	used := map[string]bool{}
	newIDs := map[string]string{} // by secret id, "" before its call is reached
	for i := range ms {
		for _, c := range ms[i].Calls {
			used[c.ID] = true
			if isSecret(c.ID) {
				newIDs[c.ID] = ""
			}
		}
	}
	if len(newIDs) == 0 {
		return
	}
	for i := range ms {
		for k := range ms[i].Calls {
			id := &ms[i].Calls[k].ID
			if _, ok := newIDs[*id]; ok {
				newID := unusedID(used)
				used[newID] = true
				newIDs[*id] = newID
				*id = newID
			}
		}
		if newID := newIDs[ms[i].CallID]; newID != "" {
			ms[i].CallID = newID
		}
	}
}

func unusedID(used map[string]bool) string {
	for n := 1; ; n++ {
		id := fmt.Sprintf("call-%d", n)
		if !used[id] {
			return id
		}
	}
}
