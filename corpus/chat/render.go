package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
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
//   - If a turn is masked, assistant messages have weights. A message is masked if one of
//     its turns is.
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
	return out, setWeights(out)
}

// setWeights sets Weight to 1 in each assistant message without a weight, if any message is
// masked (has weight 0); otherwise it changes nothing. The error is an *Unfit if all assistant
// messages are masked.
func setWeights(messages []Message) error {
	if !HasMask(messages) {
		return nil
	}
	hasTurn := false
	for i := range messages {
		if m := &messages[i]; m.Role == Assistant && m.Weight == nil {
			m.Weight = new(1)
			hasTurn = true
		}
	}
	if !hasTurn {
		return &Unfit{Reason: ReasonMasked}
	}
	return nil
}

// IsMasked reports whether the message has the weight 0, so that it does not count in the loss.
func (m *Message) IsMasked() bool { return m.Weight != nil && *m.Weight == 0 }

// HasMask reports whether one of the messages is masked.
func HasMask(messages []Message) bool {
	return slices.ContainsFunc(messages, func(m Message) bool { return m.IsMasked() })
}

// schemas caches the Schema (the argument types of the tools) of each harness, the system prompt
// and tools that a model is given, by the harness's hash. A corpus has few harnesses but tens of
// thousands of attempts.
var schemas sync.Map

func schemaOf(h arena.Harness) Schema {
	if cached, ok := schemas.Load(h.SHA256); ok && h.SHA256 != "" {
		return cached.(Schema)
	}
	s := ParseSchema(h.Tools)
	schemas.Store(h.SHA256, s)
	return s
}

// appendTurn appends the messages of one turn of a dialogue to out: one message of the user, or one
// message of the assistant followed by a message for the result of each of its tool calls.
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
	if t.Masked {
		m.Weight = new(0)
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

// appendMerged appends m to out. If the last message has the same role and no calls, m is merged
// into it instead. A message with calls must be followed by their results.
func appendMerged(out []Message, m Message) []Message {
	last := &out[len(out)-1]
	if last.Role != m.Role || len(last.Calls) > 0 {
		return append(out, m)
	}
	last.Content = plaintext.Join(last.Content, "\n\n", m.Content)
	last.Reasoning = plaintext.Join(last.Reasoning, "\n\n", m.Reasoning)
	last.Calls = m.Calls
	last.Weight = cmp.Or(last.Weight, m.Weight)
	return out
}

// textLimits are the limits for the JSON of arguments and results. The depth is that of
// encoding/json, which has already parsed the values.
var textLimits = cursor.Limits{Depth: 10_000, StringBytes: 1 << 30, Elements: math.MaxInt}

// resultText returns a tool's result as the model reads it: the content of a JSON string, or
// the compact JSON of any other value. A result that is not valid JSON is returned unchanged.
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

// normalizeArguments returns a call's arguments as compact JSON, with keys in the order in which the
// model wrote them. The last value of a repeated key counts. Null arguments are omitted unless the
// schema allows null. Numbers keep their digits. The error is an *Unfit (the messages cannot become
// a training row) if the arguments are not a JSON object.
func normalizeArguments(c arena.Call, schema Schema) (json.RawMessage, error) {
	in := cursor.New(validUTF8(string(c.Arguments)), textLimits)
	if in.Kind() != arena.Object {
		return nil, &Unfit{Reason: ReasonArguments, Detail: c.Name}
	}
	b := appendObject(nil, in, func(name string) bool {
		return !schema[c.Name][name]
	})
	if in.End() != nil {
		return nil, &Unfit{Reason: ReasonArguments, Detail: c.Name}
	}
	return b, nil
}

// appendObject appends the compact JSON of the object at the cursor to b, without null members for
// which omitsNull returns true.
func appendObject(b []byte, c *cursor.Cursor, omitsNull func(name string) bool) []byte {
	b = append(b, '{')
	places := map[string][2]int{} // of the members in b, each with the comma behind it
	c.Object(func(name string) {
		if place, ok := places[name]; ok { // the last value counts
			b = slices.Delete(b, place[0], place[1])
			for other, p := range places {
				if p[0] > place[0] {
					places[other] = [2]int{p[0] - place[1] + place[0], p[1] - place[1] + place[0]}
				}
			}
			delete(places, name)
		}
		if c.Kind() == arena.Null && omitsNull(name) {
			c.Skip()
			return
		}
		start := len(b)
		b = append(appendText(b, name), ':')
		b = append(appendValue(b, c), ',')
		places[name] = [2]int{start, len(b)}
	})
	return append(bytes.TrimSuffix(b, []byte(",")), '}')
}

// appendValue appends the compact JSON of the value at the cursor to b.
func appendValue(b []byte, c *cursor.Cursor) []byte {
	switch c.Kind() {
	case arena.Object:
		return appendObject(b, c, func(string) bool { return false })
	case arena.Array:
		b = append(b, '[')
		c.Array(func() { b = append(appendValue(b, c), ',') })
		return append(bytes.TrimSuffix(b, []byte(",")), ']')
	case arena.String:
		text, _ := c.String()
		return appendText(b, text)
	default:
		return append(b, c.Raw()...)
	}
}

// appendText appends a text as JSON to b.
func appendText(b []byte, text string) []byte {
	return append(b, asjson.Plain(text)...)
}

// validUTF8 returns s with each run of invalid bytes replaced by one U+FFFD. It first checks
// whether there are any, which is faster than strings.ToValidUTF8 for valid texts.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
