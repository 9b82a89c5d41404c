package outcome

import (
	"cmp"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/python"
)

// message is what the rules read from one step's completion.message.
type message struct {
	// readable is false where the step holds no message object: it then adds
	// nothing to the format score.
	readable bool
	think    string
	response string
	calls    []call
	// tagged reports whether the rendered calls hold an opening tag.
	tagged bool
	// timed is true where extra_info can be read, stamped where its time stamp
	// is a positive number.
	timed   bool
	stamped bool
}

type call struct {
	// name is empty unless its kind is String.
	name string
	kind arena.Kind
	// parameters is empty where they are missing or no object.
	parameters string
}

// readStep reads one step. It raises where the subnet's own typed message
// refuses a field, which leaves the whole attempt without a score.
//
// A typed step with a time stamp is read from its fields, and so is one
// without Raw: steps of other shapes than the sandbox's are scored as the
// sandbox would have recorded them. Any other step is read from Raw. The calls
// of a typed step are put into room.
func readStep(s *arena.Step, room []call) message {
	if s.Raw != "" && (!s.Typed || s.Timestamp.Kind() != arena.Number) {
		return readMessage(gjson.Parse(string(s.Raw)))
	}
	stamped := s.Timestamp.Kind() == arena.Number && gjson.Parse(string(s.Timestamp)).Num > 0
	m := message{readable: true, think: s.Think, response: s.Response, timed: true, stamped: stamped, calls: room}
	if s.Raw == "" {
		m.think, m.response = cmp.Or(s.Think, s.Reasoning), cmp.Or(s.Response, s.Content)
	}
	for i := range s.Calls {
		c := &s.Calls[i]
		m.calls = append(m.calls, call{c.Name, arena.String, arguments(c.Arguments)})
		m.tagged = m.tagged || opening.MatchString(c.Name) || opening.MatchString(c.ID) || holdsTag(string(c.Arguments)) || holdsTag(string(c.Result))
	}
	return m
}

// arguments are an object, or a string that holds one as JSON.
func arguments(raw arena.Raw) string {
	text := raw.Text()
	if arena.Raw(text).Kind() != arena.Object || raw.Kind() == arena.String && !cursor.Valid(text) {
		return ""
	}
	return text
}

// readMessage reads a step as its source wrote it.
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
	m.calls = readCalls(parts[3], "tool_call")
	readCalls(parts[4], "obs")
	m.think, m.response, m.tagged = parts[0].Str, parts[1].Str, holdsTag(parts[3].Raw)
	return m
}

func readCalls(r gjson.Result, field string) (all []call) {
	if r.Exists() && !r.IsArray() {
		python.Raise("message field %q is not a list", field)
	}
	for _, item := range r.ForEach {
		if !item.IsObject() {
			python.Raise("message field %q holds an entry that is no object", field)
		}
		parts := members(item, "name", "parameters")
		c := call{name: parts[0].Str, kind: arena.Raw(parts[0].Raw).Kind()}
		if parts[1].IsObject() {
			c.parameters = parts[1].Raw
		}
		all = append(all, c)
	}
	return all
}

// members finds some keys of an object in one pass; of a key's repetitions
// the last counts, and nothing is found in what is no object.
func members(r gjson.Result, keys ...string) []gjson.Result {
	found := make([]gjson.Result, len(keys))
	if !r.IsObject() {
		return found
	}
	for key, item := range r.ForEach {
		for i, wanted := range keys {
			if key.Str == wanted {
				found[i] = item
			}
		}
	}
	return found
}

// readTimestamp follows Python: a boolean is a number, and a missing
// extra_info is an empty one, but one of another type cannot be read.
func readTimestamp(extra gjson.Result) (timed, stamped bool) {
	if !extra.IsObject() {
		return !extra.Exists(), false
	}
	stamp := decode(members(extra, "timestamp")[0])
	return true, stamp.IsNumber() && asNumber(stamp) > 0
}

// format is the step's format score: 1 if think and at least one of tool_call
// and response are there, no part holds a tag, and every call has a name and
// an object of parameters; half of it without a time stamp.
func (m *message) format() float64 {
	if !m.readable || !m.timed || !m.wellFormed() {
		return 0
	}
	if !m.stamped {
		return unstampedShare
	}
	return 1
}

// unstampedShare is what remains of a step's format score if its time stamp
// is missing [oro problem_scorer].
const unstampedShare = 0.5

func (m *message) wellFormed() bool {
	if m.think == "" || len(m.calls) == 0 && m.response == "" || m.tagged || tag.MatchString(m.think) || tag.MatchString(m.response) {
		return false
	}
	return !slices.ContainsFunc(m.calls, func(c call) bool { return c.kind != arena.String || c.parameters == "" })
}
