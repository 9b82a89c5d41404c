package outcome

import (
	"cmp"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/python"
)

// message is what the scoring rules need to know of the message of one step.
type message struct {
	// readable reports whether the step has a message object. A step without one adds nothing to
	// the format score.
	readable bool
	think    string
	response string
	calls    []call
	// tagged reports whether the tool calls, as the subnet renders them, contain an opening tag.
	tagged bool
	// timed reports whether extra_info can be read. stamped reports whether its time stamp is a
	// positive number.
	timed   bool
	stamped bool
}

// call is one tool call of a message.
type call struct {
	// name is the tool's name. It is empty unless kind is arena.String.
	name string
	kind arena.Kind
	// parameters is the JSON of the parameters. It is empty if they are missing or not an
	// object.
	parameters string
}

// readStep reads one step. If the subnet's scorer refuses the type of a field, it panics (see
// python.Raise), and the attempt gets no score.
//
// A step is read from its fields if it has no Raw, or if it has a time stamp and its message has
// exactly the sandbox's keys and types (Typed). So steps of other formats are scored as if the
// sandbox had recorded them. Any other step is read from Raw. Calls that are read from the
// fields are appended to buf.
func readStep(s *arena.Step, buf []call) message {
	hasStamp := s.Timestamp.Kind() == arena.Number
	if s.Raw != "" && (!s.Typed || !hasStamp) {
		return readMessage(gjson.Parse(string(s.Raw)))
	}
	m := message{
		readable: true,
		think:    s.Think,
		response: s.Response,
		calls:    buf,
		timed:    true,
		stamped:  hasStamp && gjson.Parse(string(s.Timestamp)).Num > 0,
	}
	if s.Raw == "" {
		m.think = cmp.Or(s.Think, s.Reasoning)
		m.response = cmp.Or(s.Response, s.Content)
	}
	for i := range s.Calls {
		c := &s.Calls[i]
		m.calls = append(m.calls, call{c.Name, arena.String, parseArguments(c.Arguments)})
		m.tagged = m.tagged || isTagged(c)
	}
	return m
}

func isTagged(c *arena.ToolCall) bool {
	if openingTag.MatchString(c.Name) || openingTag.MatchString(c.ID) {
		return true
	}
	return hasTag(string(c.Arguments)) || hasTag(string(c.Result))
}

// parseArguments returns the arguments of a call as the JSON text of an object. The arguments
// may be an object or a string that contains one; otherwise the result is "".
func parseArguments(raw arena.Raw) string {
	text := raw.Text()
	if arena.Raw(text).Kind() != arena.Object {
		return ""
	}
	if raw.Kind() == arena.String && !cursor.Valid(text) {
		return ""
	}
	return text
}

// readMessage reads the message of a step from the original JSON of the step. It panics (see
// python.Raise) if the subnet's scorer refuses the type of a field.
func readMessage(step gjson.Result) message {
	fields := members(step, "completion", "extra_info")
	m := message{}
	m.timed, m.stamped = readTimestamp(fields[1])
	body := members(fields[0], "message")[0]
	if !body.IsObject() {
		return m
	}
	m.readable = true
	parts := members(body, "think", "response", "user", "tool_call", "obs")
	for i, name := range []string{"think", "response", "user"} {
		if parts[i].Exists() && parts[i].Type != gjson.String {
			python.Raise("message field %q is not a string", name)
		}
	}
	m.think = parts[0].Str
	m.response = parts[1].Str
	m.calls = readCalls(parts[3], "tool_call")
	m.tagged = hasTag(parts[3].Raw)
	readCalls(parts[4], "obs")
	return m
}

// readCalls reads a list of tool calls. It panics (see python.Raise) if r exists and is not a
// list of objects. The error names the list by field.
func readCalls(r gjson.Result, field string) []call {
	if r.Exists() && !r.IsArray() {
		python.Raise("message field %q is not a list", field)
	}
	var calls []call
	for _, item := range r.ForEach {
		if !item.IsObject() {
			python.Raise("message field %q holds an entry that is no object", field)
		}
		parts := members(item, "name", "parameters")
		c := call{
			name: parts[0].Str,
			kind: arena.Raw(parts[0].Raw).Kind(),
		}
		if parts[1].IsObject() {
			c.parameters = parts[1].Raw
		}
		calls = append(calls, c)
	}
	return calls
}

// members returns the values of the given keys in the JSON object r, in the order of keys. If a key
// is missing or r is no object, Exists of the value is false. If r repeats a key, its last value
// counts.
func members(r gjson.Result, keys ...string) []gjson.Result {
	values := make([]gjson.Result, len(keys))
	if !r.IsObject() {
		return values
	}
	for key, item := range r.ForEach {
		for i := range keys {
			if key.Str == keys[i] {
				values[i] = item
			}
		}
	}
	return values
}

// readTimestamp reads extra_info as the subnet's Python code does. timed is false if Python
// cannot read the type of extra_info; a missing one is read as empty. stamped reports whether
// the time stamp is a positive number, where true counts as 1.
func readTimestamp(extra gjson.Result) (timed, stamped bool) {
	if !extra.IsObject() {
		return !extra.Exists(), false
	}
	stamp := decode(members(extra, "timestamp")[0])
	return true, stamp.IsNumber() && asNumber(stamp) > 0
}

// format returns the format score of the step. A step is well formed if it has thinking and at
// least one call or a response, no part contains a tag, and every call has a name and an object
// of parameters. The score is 1 for a well-formed step, unstampedFactor if it has no time stamp,
// and 0 for any other step.
func (m *message) format() float64 {
	if !m.readable || !m.timed || !m.isWellFormed() {
		return 0
	}
	if !m.stamped {
		return unstampedFactor
	}
	return 1
}

// unstampedFactor is the format score of a well-formed step without a time stamp; with one the
// score is 1. The subnet's own scorer (problem_scorer in its code) does the same.
const unstampedFactor = 0.5

func (m *message) isWellFormed() bool {
	if m.think == "" || len(m.calls) == 0 && m.response == "" {
		return false
	}
	if m.tagged || anyTag.MatchString(m.think) || anyTag.MatchString(m.response) {
		return false
	}
	isMalformed := func(c call) bool {
		return c.kind != arena.String || c.parameters == ""
	}
	return !slices.ContainsFunc(m.calls, isMalformed)
}
