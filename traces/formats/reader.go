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

// reader collects the attempts of one document while the document is read.
type reader struct {
	// remaining is the number of messages, calls and parts that may still be read. It is
	// negative once the limit is exceeded.
	remaining int
	attempts  []Attempt
	// isRow is set for rows of messages, isShareGPT for rows in the format of ShareGPT.
	isRow, isShareGPT bool
	err               error
}

// begin adds an attempt and returns a pointer to it, which is valid until the next call. part is
// the text of the attempt within the document, empty if the document has no other attempt.
func (r *reader) begin(part string) *Attempt {
	r.attempts = append(r.attempts, Attempt{
		Trace: NewTrace(arena.Source{}),
		Part:  part,
	})
	return r.attempt()
}

// attempt returns the attempt that was added last.
func (r *reader) attempt() *Attempt { return &r.attempts[len(r.attempts)-1] }

// each calls visit for the elements of a list until the document's limit of messages, calls and
// parts is exceeded.
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

// text returns v if it is a string, and otherwise "". If the string was written with half of a
// surrogate pair, which gjson replaces by U+FFFD, it sets HasLoneSurrogate of the attempt.
func (r *reader) text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	if strings.ContainsRune(v.Str, '\uFFFD') && !writesReplacement(v.Raw) {
		r.attempt().HasLoneSurrogate = true
	}
	return v.Str
}

// writesReplacement reports whether U+FFFD is written in the JSON text raw, plain or escaped. If
// not, gjson has put it in place of half of a surrogate pair.
func writesReplacement(raw string) bool {
	return strings.Contains(strings.ToLower(raw), `\ufffd`) || strings.ContainsRune(raw, '\uFFFD')
}

// addLoss records the code of something in the source that the trace has no field for, once for
// each attempt.
func (r *reader) addLoss(reason string) {
	a := r.attempt()
	if !slices.Contains(a.Lost, reason) {
		a.Lost = append(a.Lost, reason)
	}
}

// maxUnreadKeys is the number of losses of an attempt after which addUnreadKeys records no more.
const maxUnreadKeys = 20

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,39}$`)

// ignoredKeys are keys whose value addUnreadKeys does not record, because it is not part of the
// conversation or is read elsewhere.
var ignoredKeys = []string{
	"id", "type", "object", "uuid", "source", "model", "name", "agent", "timestamp", "created_at",
	"finish_reason", "stop_reason", "status", "problem_id", "task_id", "example_id", "task", "message_type",
	"tool_call_id", "call_id", "requestor",
}

// addUnreadKeys records a loss for each value of o whose key is neither known nor in ignoredKeys:
// a text, a number, a boolean, or a list or object that is not empty. The loss has the key, or "…"
// for a key that does not look like a name and may be a secret.
func (r *reader) addUnreadKeys(o object, known ...string) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		v := o[name]
		if isEmptyValue(v) || slices.Contains(known, name) || slices.Contains(ignoredKeys, name) {
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

// isEmptyValue reports whether a value is null, an empty text, or a list or object without content.
func isEmptyValue(v gjson.Result) bool {
	switch v.Type {
	case gjson.Null:
		return true
	case gjson.String:
		return v.Str == ""
	case gjson.JSON:
		content := strings.Join(strings.Fields(v.Raw), "")
		return content == "[]" || content == "{}"
	case gjson.False, gjson.Number, gjson.True:
	}
	return false
}

// toolDefinitions returns a list of tool definitions as a JSON array. The list, and each
// definition, may be JSON in a string. Definitions of Anthropic's API get OpenAI's form. The
// result is "" if v is no list.
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

// anthropicDefinition converts a tool definition of Anthropic's API to OpenAI's form. schema is
// its input_schema.
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

// addResult adds a message with the result of the call that has this id. If callID is empty, the
// result belongs to a call that has none yet.
func (r *reader) addResult(callID string, result arena.Raw) {
	r.addMessage(message{role: toolRole, callID: callID, result: result})
}

// setError records that the attempt failed with err. It does nothing if err is nil.
func (r *reader) setError(err *arena.AttemptError) {
	if err == nil {
		return
	}
	a := r.attempt()
	a.Status = arena.StatusFailed
	a.Error = err
}
