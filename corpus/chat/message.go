// Package chat renders dialogues as the messages that trainers read, and reads
// such messages back.
package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
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

// Message is one OpenAI message. Absent parts are left out of its JSON, never
// null; Content alone is always there.
type Message struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content,omitempty"`
	Calls     []Call `json:"tool_calls,omitempty"`
	// CallID names the call that a tool message answers.
	CallID string `json:"tool_call_id,omitempty"`
	// Weight is 1 on an assistant message that is learned from and 0 on one
	// that is context; nil where all are learned from.
	Weight *int `json:"weight,omitempty"`
}

// Call is one tool call of an assistant message.
type Call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is what a call names, with its arguments as a JSON object.
type Function struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Encode gives each message as one JSON object. Text that is no valid UTF-8
// comes out with U+FFFD in its place.
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

// decodeLimits are far above any row: an attempt has some hundred calls, and a
// row must fit into memory many times over.
var decodeLimits = cursor.Limits{Depth: 512, StringBytes: 1 << 30, Elements: 1 << 20}

// Decode reads messages as Encode wrote them.
func Decode(rows []string) ([]Message, error) { return decode(rows, (*cursor.Cursor).String) }

// Skim is Decode, but content and reasoning are as Marshal writes them, without their
// quotes. What goes out as JSON again, or is only checked, needs no more: a tag or a
// control token stands in them as it does in the text, so that Check finds it.
func Skim(rows []string) ([]Message, error) { return decode(rows, written) }

// Meant are messages that Skim has read as Decode reads them.
func Meant(skimmed []Message) []Message {
	out := slices.Clone(skimmed)
	for i := range out {
		out[i].Content, out[i].Reasoning = cursor.Unescape(out[i].Content), cursor.Unescape(out[i].Reasoning)
	}
	return out
}

func written(c *cursor.Cursor) (string, bool) {
	text := string(c.Raw())
	if !strings.HasPrefix(text, `"`) {
		return "", false
	}
	if c.Unusual() || strings.Contains(text, "\xe2\x80") && strings.ContainsAny(text, "\u2028\u2029") {
		text, _ = Marshal(cursor.Unescape(text[1 : len(text)-1]))
	}
	return text[1 : len(text)-1], true
}

func decode(rows []string, said func(*cursor.Cursor) (string, bool)) ([]Message, error) {
	out := make([]Message, len(rows))
	c := cursor.New("", decodeLimits)
	for i, row := range rows {
		if !utf8.ValidString(row) {
			return nil, fmt.Errorf("decode message %d: no UTF-8", i)
		}
		c.Reset(row)
		c.Reserve(len(row))
		if err := errors.Join(out[i].decode(c, said), c.End()); err != nil {
			return nil, fmt.Errorf("decode message %d: %w", i, err)
		}
	}
	return out, nil
}

func (m *Message) decode(c *cursor.Cursor, said func(*cursor.Cursor) (string, bool)) (err error) {
	text := func(key string, take func(*cursor.Cursor) (string, bool)) string {
		s, ok := take(c)
		if !ok && err == nil {
			err = fmt.Errorf("%s is no string", key)
		}
		return s
	}
	whole := c.Object(func(key string) {
		switch key {
		case "role":
			m.Role = text(key, (*cursor.Cursor).String)
		case "content":
			m.Content = text(key, said)
		case "reasoning_content":
			m.Reasoning = text(key, said)
		case "tool_call_id":
			m.CallID = text(key, (*cursor.Cursor).String)
		case "weight":
			weight, ok := c.Int()
			if !ok && err == nil {
				err = errors.New("weight is no whole number")
			}
			m.Weight = new(int(weight))
		case "tool_calls":
			c.Array(func() { m.Calls = append(m.Calls, decodeCall(c)) })
		default:
			c.Skip()
		}
	})
	if !whole && err == nil {
		return errors.New("no JSON object")
	}
	return err
}

func decodeCall(c *cursor.Cursor) (call Call) {
	c.Object(func(key string) {
		switch key {
		case "id":
			call.ID, _ = c.String()
		case "type":
			call.Type, _ = c.String()
		case "function":
			c.Object(func(key string) {
				switch key {
				case "name":
					call.Function.Name, _ = c.String()
				case "arguments":
					call.Function.Arguments = json.RawMessage(c.Raw())
				default:
					c.Skip()
				}
			})
		default:
			c.Skip()
		}
	})
	return call
}

// Marshal gives a value as JSON without the escapes that only HTML needs.
func Marshal(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// Tools gives the definitions of a harness as rows store them.
func Tools(h arena.Harness) []string {
	return slicesx.Map(h.Tools, func(t arena.Raw) string { return string(t) })
}

// Rename gives calls whose id must not be published another, in the calls and
// in their answers. Ids tell calls apart, so that one placeholder for two of
// them would not do.
func Rename(ms []Message, secret func(id string) bool) {
	used, names := map[string]bool{}, map[string]string{}
	for i := range ms {
		for _, c := range ms[i].Calls {
			used[c.ID] = true
			if secret(c.ID) {
				names[c.ID] = ""
			}
		}
	}
	if len(names) == 0 {
		return
	}
	for i := range ms {
		for k := range ms[i].Calls {
			id := &ms[i].Calls[k].ID
			if _, renamed := names[*id]; renamed {
				fresh := "call-1"
				for n := 2; used[fresh]; n++ {
					fresh = fmt.Sprintf("call-%d", n)
				}
				used[fresh], names[*id], *id = true, fresh, fresh
			}
		}
		if name := names[ms[i].CallID]; name != "" {
			ms[i].CallID = name
		}
	}
}
