package formats

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// reader collects the attempts of one document.
type reader struct {
	// remaining is the number of messages, calls and parts that may still be read. It is
	// negative after the limit.
	remaining int
	attempts  []Attempt
	// isRow is set for rows of messages, isShareGPT for those of ShareGPT.
	isRow, isShareGPT bool
	err               error
}

// begin adds an attempt and returns it. The pointer must not be used after the next call.
// Part is the attempt's part of the document, empty if the document has no other.
func (r *reader) begin(part string) *Attempt {
	r.attempts = append(r.attempts, Attempt{
		Trace: NewTrace(arena.Source{}),
		Part:  part,
	})
	return r.attempt()
}

// attempt returns the attempt that was added last.
func (r *reader) attempt() *Attempt { return &r.attempts[len(r.attempts)-1] }

// each calls visit for the elements of a list until the limit is reached.
func (r *reader) each(list gjson.Result, visit func(v gjson.Result)) {
	visitList(list, func(v gjson.Result) bool {
		r.remaining--
		if r.remaining < 0 {
			return false
		}
		visit(v)
		return r.remaining >= 0
	})
}

// text returns the string v, or "" for any other type. It records in the attempt that the
// string had half of a surrogate pair, which gjson replaces by U+FFFD.
func (r *reader) text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	if strings.ContainsRune(v.Str, '\uFFFD') && !writesReplacement(v.Raw) {
		r.attempt().HasLoneSurrogate = true
	}
	return v.Str
}

// writesReplacement reports whether JSON text has U+FFFD itself, plain or escaped.
func writesReplacement(raw string) bool {
	return strings.Contains(strings.ToLower(raw), `\ufffd`) || strings.ContainsRune(raw, '\uFFFD')
}

// addLoss records once that the attempt lacks something of its source.
func (r *reader) addLoss(reason string) {
	a := r.attempt()
	if !slices.Contains(a.Lost, reason) {
		a.Lost = append(a.Lost, reason)
	}
}

// maxUnreadKeys is the number of losses of an attempt above which no unknown key is
// recorded.
const maxUnreadKeys = 20

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,39}$`)

// ignoredKeys are the keys whose text is not part of the conversation, or is read from
// elsewhere.
var ignoredKeys = []string{
	"id", "type", "object", "uuid", "source", "model", "name", "agent", "timestamp", "created_at",
	"finish_reason", "stop_reason", "status", "problem_id", "task_id", "example_id", "task", "message_type",
	"tool_call_id", "call_id", "requestor",
}

// addUnreadKeys records a loss for each text of o under a key that is neither known nor
// ignored. A key that does not look like a name may hold anything and is not repeated.
func (r *reader) addUnreadKeys(o object, known ...string) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		v := o[name]
		isText := v.Type == gjson.String && v.Str != ""
		if !isText || slices.Contains(known, name) || slices.Contains(ignoredKeys, name) {
			continue
		}
		if !plainKey.MatchString(name) {
			name = "…"
		}
		if len(r.attempt().Lost) < maxUnreadKeys {
			r.addLoss("unread:" + name)
		}
	}
}

// toolDefinitions returns a list of tool definitions as a JSON array. The list may be an
// array of objects or of JSON strings, or such an array as JSON in a string. The result is
// empty for any other value.
func toolDefinitions(v gjson.Result) arena.Raw {
	v = unpack(v)
	if !v.IsArray() {
		return ""
	}
	if v.Get("0").Type != gjson.String && !v.Get("0.input_schema").Exists() {
		return arena.Raw(v.Raw)
	}
	var definitions []string
	for _, definition := range v.ForEach {
		definition = unpack(definition)
		if schema := definition.Get("input_schema"); schema.Exists() {
			definitions = append(definitions, anthropicDefinition(definition, schema))
		} else {
			definitions = append(definitions, definition.Raw)
		}
	}
	return arena.Raw("[" + strings.Join(definitions, ",") + "]")
}

// anthropicDefinition returns a tool definition of Anthropic's API in OpenAI's form.
func anthropicDefinition(definition, schema gjson.Result) string {
	name := cmp.Or(definition.Get("name").Raw, `""`)
	description := cmp.Or(definition.Get("description").Raw, `""`)
	return `{"name":` + name + `,"description":` + description + `,"parameters":` + schema.Raw + `}`
}

func (r *reader) addMessage(m message) {
	a := r.attempt()
	a.messages = append(a.messages, m)
}

func (r *reader) addText(sender role, text string) {
	r.addMessage(message{
		role: sender,
		step: arena.Step{Content: text},
	})
}

func (r *reader) addStep(step arena.Step) {
	r.addMessage(message{role: agentRole, step: step})
}

// addResult adds the result of the call with an id, or of a call without one if callID is
// empty.
func (r *reader) addResult(callID string, result arena.Raw) {
	r.addMessage(message{role: toolRole, callID: callID, result: result})
}

// setError records that the attempt failed, unless err is nil.
func (r *reader) setError(err *arena.AttemptError) {
	if err == nil {
		return
	}
	a := r.attempt()
	a.Status = arena.StatusFailed
	a.Error = err
}
