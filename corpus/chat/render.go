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

// Render returns the messages of a dialogue in a harness: the system prompt, the
// request verbatim, then the turns.
//
//   - Consecutive turns of one role are merged into one message, separated by an empty
//     line, because no template accepts two assistant messages without a result between
//     them.
//   - Everything after the last assistant turn is omitted, results of its calls
//     included, so that a row ends with a turn to learn.
//   - A null argument is omitted if the tool's schema does not allow null. The tool
//     treats both alike.
//
// If the dialogue cannot become a row, the error is an *Unfit.
func Render(
	h arena.Harness,
	query string,
	d *arena.Dialogue,
) ([]Message, error) {
	schema := schemaOf(h)
	out := make([]Message, 0, 2+2*len(d.Turns))
	if h.System != "" {
		out = append(out, Message{Role: System, Content: h.System})
	}
	out = append(out, Message{Role: User, Content: validUTF8(query)})
	for i := range d.Turns {
		var err error
		out, err = appendTurn(out, &d.Turns[i], schema)
		if err != nil {
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

// schemas caches the Schema of each harness by its hash. A corpus has few harnesses and
// tens of thousands of attempts.
var schemas sync.Map

func schemaOf(h arena.Harness) Schema {
	if cached, ok := schemas.Load(h.SHA256); ok && h.SHA256 != "" {
		return cached.(Schema)
	}
	s := ParseSchema(h.Tools)
	schemas.Store(h.SHA256, s)
	return s
}

// appendTurn appends the messages of a turn: one of the user, or one of the assistant
// with the results of its calls.
func appendTurn(
	out []Message,
	t *arena.Turn,
	schema Schema,
) ([]Message, error) {
	if t.User != "" {
		return appendMerged(out, Message{
			Role:    User,
			Content: validUTF8(t.User),
		}), nil
	}
	m := Message{
		Role:      Assistant,
		Content:   validUTF8(t.Text),
		Reasoning: validUTF8(t.Think),
	}
	results := make([]Message, 0, len(t.Calls))
	for _, c := range t.Calls {
		args, err := normalizeArguments(c, schema)
		if err != nil {
			return nil, err
		}
		f := Function{Name: c.Name, Arguments: args}
		m.Calls = append(m.Calls, Call{
			ID:       c.ID,
			Type:     "function",
			Function: f,
		})
		if c.Result.Kind() != arena.Absent {
			results = append(results, Message{
				Role:    Tool,
				Content: resultText(c.Result),
				CallID:  c.ID,
			})
		}
	}
	return append(appendMerged(out, m), results...), nil
}

// appendMerged appends m, or merges it into the last message if both have one role and
// the last message has no calls, whose results must follow it.
func appendMerged(out []Message, m Message) []Message {
	last := &out[len(out)-1]
	if last.Role != m.Role || len(last.Calls) > 0 {
		return append(out, m)
	}
	last.Content = plaintext.Join(last.Content, "\n\n", m.Content)
	last.Reasoning = plaintext.Join(last.Reasoning, "\n\n", m.Reasoning)
	last.Calls = m.Calls
	return out
}

// textLimits are those of encoding/json, which has read the same values before.
var textLimits = cursor.Limits{Depth: 10_000, StringBytes: 1 << 30}

// resultText returns a tool's result as a model reads it: the text of a JSON string, any
// other value as compact JSON.
func resultText(result arena.Raw) string {
	raw := validUTF8(string(result))
	c := cursor.New(raw, textLimits)
	var text string
	if result.Kind() == arena.String {
		text, _ = c.String()
	} else {
		text = c.Compact()
	}
	if c.End() != nil {
		return raw
	}
	return text
}

// normalizeArguments returns a call's arguments as compact JSON with sorted keys, without
// nulls that the schema forbids. Numbers keep their digits.
func normalizeArguments(c arena.Call, schema Schema) (json.RawMessage, error) {
	d := json.NewDecoder(strings.NewReader(string(c.Arguments)))
	d.UseNumber()
	var args map[string]any
	if err := d.Decode(&args); err != nil || args == nil {
		return nil, &Unfit{Reason: ReasonArguments, Detail: c.Name}
	}
	for name, value := range args {
		if value == nil && !schema[c.Name][name] {
			delete(args, name)
		}
	}
	s, err := Marshal(args)
	return json.RawMessage(s), err
}

// validUTF8 replaces invalid bytes by U+FFFD. Nearly all texts are valid, and the check
// costs a fraction of the time of strings.ToValidUTF8.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
