package chat

import (
	"encoding/json"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	plaintext "github.com/trajectory-arena/arena/internal/text"
)

// Render gives the messages of a dialogue in a harness: its system prompt, the
// request verbatim, then the turns. The rules:
//   - Turns of one speaker in a row are one message, joined by an empty line:
//     no template takes two assistant messages without an answer between them.
//   - What follows the last assistant turn is left out, results of its own
//     calls included: a row ends on what the model is to learn.
//   - An argument that is null is left out where the tool's schema does not
//     allow null, because the tool reads both alike.
//
// A dialogue that cannot become a row gives an *Unfit with the reason.
func Render(h arena.Harness, query string, d *arena.Dialogue) ([]Message, error) {
	schema := schemaOf(h)
	out := make([]Message, 0, 2+2*len(d.Turns))
	if h.System != "" {
		out = append(out, Message{Role: System, Content: h.System})
	}
	out = append(out, Message{Role: User, Content: valid(query)})
	for i := range d.Turns {
		var err error
		if out, err = appendTurn(out, &d.Turns[i], schema); err != nil {
			return nil, err
		}
	}
	for len(out) > 0 && out[len(out)-1].Role != Assistant {
		out = out[:len(out)-1]
	}
	if err := Check(out, schema); err != nil {
		return nil, err
	}
	return out, nil
}

// schemas are those of the harnesses met so far, by their hash: a corpus has one
// harness and tens of thousands of attempts.
var schemas sync.Map

func schemaOf(h arena.Harness) Schema {
	if known, ok := schemas.Load(h.SHA256); ok && h.SHA256 != "" {
		return known.(Schema)
	}
	s := ParseSchema(h.Tools)
	schemas.Store(h.SHA256, s)
	return s
}

func appendTurn(out []Message, t *arena.Turn, schema Schema) ([]Message, error) {
	if t.User != "" {
		return join(out, Message{Role: User, Content: valid(t.User)}), nil
	}
	m := Message{Role: Assistant, Content: valid(t.Text), Reasoning: valid(t.Think)}
	results := make([]Message, 0, len(t.Calls))
	for _, c := range t.Calls {
		args, err := arguments(c, schema)
		if err != nil {
			return nil, err
		}
		m.Calls = append(m.Calls, Call{ID: c.ID, Type: "function", Function: Function{Name: c.Name, Arguments: args}})
		if c.Result.Kind() != arena.Absent {
			results = append(results, Message{Role: Tool, Content: text(c.Result), CallID: c.ID})
		}
	}
	return append(join(out, m), results...), nil
}

// join appends m, or adds it to the last message where the same speaker goes
// on. A message with calls is never added to: its answers follow it.
func join(out []Message, m Message) []Message {
	last := &out[len(out)-1]
	if last.Role != m.Role || len(last.Calls) > 0 {
		return append(out, m)
	}
	last.Content = plaintext.Join(last.Content, "\n\n", m.Content)
	last.Reasoning = plaintext.Join(last.Reasoning, "\n\n", m.Reasoning)
	last.Calls = m.Calls
	return out
}

// textLimits are those of encoding/json: what was read as JSON is taken as such.
var textLimits = cursor.Limits{Depth: 10_000, StringBytes: 1 << 30}

// text is a tool's answer as a model reads it: a JSON string's own text, any
// other value as compact JSON.
func text(r arena.Raw) string {
	written := valid(string(r))
	c := cursor.New(written, textLimits)
	read := c.Compact
	if r.Kind() == arena.String {
		read = func() string { s, _ := c.String(); return s }
	}
	if s := read(); c.End() == nil {
		return s
	}
	return written
}

// arguments gives a call's arguments as compact JSON with sorted keys; numbers
// keep their digits.
func arguments(c arena.Call, schema Schema) (json.RawMessage, error) {
	d := json.NewDecoder(strings.NewReader(string(c.Arguments)))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil || v == nil {
		return nil, &Unfit{Reason: ReasonArguments, Detail: c.Name}
	}
	for k, x := range v {
		if x == nil && !schema[c.Name][k] {
			delete(v, k)
		}
	}
	s, err := Marshal(v)
	return json.RawMessage(s), err
}

// valid looks first: nearly all texts are valid, and to look takes a part of the
// time that strings.ToValidUTF8 does.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
