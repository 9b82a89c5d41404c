// Package chat renders dialogues as the messages that trainers read, and reads
// such messages back.
package chat

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
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

// Decode reads messages as Encode wrote them.
func Decode(rows []string) ([]Message, error) {
	out := make([]Message, len(rows))
	for i, row := range rows {
		if !gjson.Valid(row) {
			return nil, fmt.Errorf("decode message %d: no JSON", i)
		}
		if err := out[i].decode(gjson.Parse(row)); err != nil {
			return nil, fmt.Errorf("decode message %d: %w", i, err)
		}
	}
	return out, nil
}

// decode reads one message. encoding/json is four times slower here, and this
// is where the export of a large corpus spends its time.
func (m *Message) decode(v gjson.Result) (err error) {
	v.ForEach(func(key, x gjson.Result) bool {
		switch key.Str {
		case "role":
			m.Role, err = str(key, x)
		case "content":
			m.Content, err = str(key, x)
		case "reasoning_content":
			m.Reasoning, err = str(key, x)
		case "tool_call_id":
			m.CallID, err = str(key, x)
		case "weight":
			weight := int(x.Int())
			m.Weight = &weight
		case "tool_calls":
			m.Calls = decodeCalls(x)
		}
		return err == nil
	})
	return err
}

func str(key, x gjson.Result) (string, error) {
	if x.Type != gjson.String {
		return "", fmt.Errorf("%s is a %s, not a string", key.Str, x.Type)
	}
	return x.Str, nil
}

func decodeCalls(list gjson.Result) []Call {
	var out []Call
	list.ForEach(func(_, c gjson.Result) bool {
		f := c.Get("function")
		out = append(out, Call{ID: c.Get("id").String(), Type: c.Get("type").String(),
			Function: Function{Name: f.Get("name").String(), Arguments: json.RawMessage(f.Get("arguments").Raw)}})
		return true
	})
	return out
}

// Marshal gives a value as JSON without the escapes that only HTML needs.
func Marshal(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// Tools gives the definitions of a harness as rows store them.
func Tools(h arena.Harness) []string {
	out := make([]string, len(h.Tools))
	for i, t := range h.Tools {
		out[i] = string(t)
	}
	return out
}

// Clean passes every text of the messages through clean, arguments as JSON
// text. Arguments that are then no JSON make the messages unfit.
func Clean(ms []Message, clean func(string) string) error {
	for i := range ms {
		m := &ms[i]
		m.Content, m.Reasoning = clean(m.Content), clean(m.Reasoning)
		for k := range m.Calls {
			f := &m.Calls[k].Function
			f.Arguments = json.RawMessage(clean(string(f.Arguments)))
			if !json.Valid(f.Arguments) {
				return &Unfit{ReasonArguments, f.Name}
			}
		}
	}
	return nil
}
