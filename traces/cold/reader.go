package cold

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// object is the members of a JSON object; of a name that comes twice the last.
type object map[string]gjson.Result

func fields(v gjson.Result) object {
	all := object{}
	if v.IsObject() {
		for key, value := range v.ForEach {
			all[key.Str] = value
		}
	}
	return all
}

// within is the object under a name; empty where there is none. One that is
// written in a string is read as well.
func (o object) within(name string) object { return fields(Unpacked(o[name])) }

func (o object) first(names ...string) gjson.Result {
	for _, name := range names {
		if v := o[name]; v.Exists() && v.Type != gjson.Null {
			return v
		}
	}
	return gjson.Result{}
}

// id is a string or a number as text.
func (o object) id(names ...string) string {
	v := o.first(names...)
	if v.Type == gjson.Number {
		return v.Raw
	}
	return v.Str
}

// number is a number, or a bool as 1 or 0; nil for anything else.
func (o object) number(names ...string) *float64 {
	v := o.first(names...)
	if v.Type != gjson.Number && !v.IsBool() {
		return nil
	}
	return new(v.Float())
}

// count is a whole number from 0; nil for anything else.
func (o object) count(name string) *int {
	if v := o[name]; v.Type == gjson.Number && v.Num >= 0 && v.Num <= math.MaxInt32 && v.Num == math.Trunc(v.Num) {
		return new(int(v.Num))
	}
	return nil
}

// set takes over a number that is told.
func set[T any](to, told *T) {
	if told != nil {
		*to = *told
	}
}

// Unpacked is the array or object that a string holds, and any other value as it is.
func Unpacked(v gjson.Result) gjson.Result {
	if text := strings.TrimSpace(v.Str); v.Type == gjson.String && text != "" && strings.ContainsRune("{[", rune(text[0])) && cursor.Valid(text) {
		return gjson.Parse(text)
	}
	return v
}

func messageList(v gjson.Result) bool {
	return v.IsArray() && v.Get("0.role").Type == gjson.String
}

// reader collects the attempts of one document.
type reader struct {
	// left is how many more messages, calls and parts may be read; below zero
	// nothing more is.
	left int
	all  []Attempt
	// plain is set for rows of messages, shared for those of ShareGPT.
	plain, shared bool
	err           error
}

// begin starts an attempt; text is its part of the document, empty for all of it.
func (r *reader) begin(text string) *Attempt {
	r.all = append(r.all, Attempt{Trace: NewTrace(arena.Source{}), Text: text})
	return r.attempt()
}

func (r *reader) attempt() *Attempt { return &r.all[len(r.all)-1] }

// each visits the elements of a list that is one, while there may be more.
func (r *reader) each(list gjson.Result, visit func(v gjson.Result)) {
	listed(list, func(v gjson.Result) bool {
		if r.left--; r.left >= 0 {
			visit(v)
		}
		return r.left >= 0
	})
}

func (r *reader) text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	if strings.ContainsRune(v.Str, '\uFFFD') && !strings.Contains(strings.ToLower(v.Raw), `\ufffd`) && !strings.ContainsRune(v.Raw, '\uFFFD') {
		r.attempt().Surrogate = true
	}
	return v.Str
}

// listed visits the elements of a list, also of one that is an object of numbers,
// and of JSON in a string, while visit says so.
func listed(v gjson.Result, visit func(gjson.Result) bool) {
	if v = Unpacked(v); v.IsArray() {
		v.ForEach(func(_, e gjson.Result) bool { return visit(e) })
		return
	}
	all := fields(v)
	for i := 0; ; i++ {
		if e, ok := all[strconv.Itoa(i)]; !ok || !visit(e) {
			return
		}
	}
}

func (r *reader) lose(word string, really bool) {
	if a := r.attempt(); really && !slices.Contains(a.Lost, word) {
		a.Lost = append(a.Lost, word)
	}
}

// mostUnread is how many unknown keys one attempt names.
const mostUnread = 20

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,39}$`)

// quiet are keys whose text is told elsewhere or says nothing of what was said.
var quiet = []string{
	"id", "type", "object", "uuid", "source", "model", "name", "agent", "timestamp", "created_at", "finish_reason", "stop_reason", "status",
	"problem_id", "task_id", "example_id", "task", "message_type", "tool_call_id", "call_id", "requestor",
}

// unread loses text under keys that no reader knows. A key that does not look like one
// may hold anything, and is not repeated.
func (r *reader) unread(o object, known ...string) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if v := o[name]; v.Type != gjson.String || v.Str == "" || slices.Contains(known, name) || slices.Contains(quiet, name) {
			continue
		}
		if !plainKey.MatchString(name) {
			name = "…"
		}
		r.lose("unread:"+name, len(r.attempt().Lost) < mostUnread)
	}
}

// Tools are definitions: a list, or JSON of one in a string, or a list of such
// strings. Anything else is none.
func Tools(v gjson.Result) arena.Raw {
	if v = Unpacked(v); !v.IsArray() {
		return ""
	}
	if v.Get("0").Type != gjson.String && !v.Get("0.input_schema").Exists() {
		return arena.Raw(v.Raw)
	}
	var all []string
	for _, def := range v.ForEach {
		if def = Unpacked(def); def.Get("input_schema").Exists() { // as Anthropic has it
			def.Raw = `{"name":` + cmp.Or(def.Get("name").Raw, `""`) + `,"description":` + cmp.Or(def.Get("description").Raw, `""`) + `,"parameters":` + def.Get("input_schema").Raw + `}`
		}
		all = append(all, def.Raw)
	}
	return arena.Raw("[" + strings.Join(all, ",") + "]")
}

func (r *reader) say(m message) { r.attempt().messages = append(r.attempt().messages, m) }

func (r *reader) tell(role Role, text string) {
	r.say(message{role: role, step: arena.Step{Content: text}})
}

func (r *reader) answer(id string, result arena.Raw) {
	r.say(message{role: Tool, callID: id, result: result})
}
