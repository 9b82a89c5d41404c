package formats

import (
	"cmp"
	"strings"

	"github.com/trajectory-arena/arena"
)

// reader collects the attempts of one document while the document is read.
type reader struct {
	// remaining is the number of messages, calls and parts that may still be read. It is
	// negative once the limit is exceeded.
	remaining int
	attempts  []Attempt
	// isRow is set if the document is a row of messages, isShareGPT if it is one in ShareGPT's
	// format.
	isRow, isShareGPT bool
	err               error
}

// begin adds an attempt and returns a pointer to it, which is valid until the next call. part is
// the JSON of the attempt within the document, empty if the document has no other attempt. own are
// the values of the document that belong to this attempt alone.
func (r *reader) begin(part string, own ...*value) *Attempt {
	r.attempts = append(r.attempts, Attempt{
		Trace: NewTrace(arena.Source{}),
		Part:  part,
		own:   own,
	})
	return r.attempt()
}

// parse returns the JSON value of a text, and adds it to the values that belong to the current
// attempt alone.
func (r *reader) parse(text string) *value {
	v := parse(text)
	r.attempt().own = append(r.attempt().own, v)
	return v
}

// attempt returns the attempt that was added last.
func (r *reader) attempt() *Attempt { return &r.attempts[len(r.attempts)-1] }

// each calls visit for the elements of a list until the document's limit of messages, calls and
// parts is exceeded.
func (r *reader) each(list *value, visit func(v *value)) {
	for v := range list.elements() {
		r.remaining--
		if r.remaining < 0 {
			return
		}
		visit(v)
	}
}

// eachObject calls visit as each does, but only for objects.
func (r *reader) eachObject(list *value, visit func(v *value)) {
	r.each(list, func(v *value) {
		if v.isObject() {
			visit(v)
		}
	})
}

// text returns v if it is a string, and otherwise "". If the string was written with half of a
// surrogate pair, which gjson replaces by U+FFFD, it sets HasLoneSurrogate of the attempt.
func (r *reader) text(v *value) string {
	text := v.str()
	if strings.ContainsRune(text, '\uFFFD') && !writesReplacement(v.json.Raw) {
		r.attempt().HasLoneSurrogate = true
	}
	return text
}

// writesReplacement reports whether U+FFFD is written in the JSON text raw, plain or escaped. If
// not, gjson has put it in place of half of a surrogate pair.
func writesReplacement(raw string) bool {
	return strings.Contains(strings.ToLower(raw), `\ufffd`) || strings.ContainsRune(raw, '\uFFFD')
}

// addLoss records the code of something in the source that the trace has no field for, once for
// each attempt.
func (r *reader) addLoss(reason string) {
	r.attempt().addLoss(reason)
}

// toolDefinitions returns a list of tool definitions as a JSON array. The list, and each
// definition, may be JSON in a string. Definitions of Anthropic's and Gemini's API are converted to
// OpenAI's form. The result is "" if v is no list.
func toolDefinitions(v *value) arena.Raw {
	v = v.unpack()
	first := v.firstElement()
	if !v.isArray() && !first.exists() {
		return ""
	}
	isUsual := first.isObject() && !isForeignDefinition(first) && !first.get("functionDeclarations").exists()
	if v.isArray() && (isUsual || !first.exists()) {
		return v.raw()
	}
	var definitions []string
	for definition := range v.elements() {
		definition = definition.unpack()
		if declarations := definition.get("functionDeclarations"); declarations.isArray() {
			for declaration := range declarations.elements() {
				definitions = append(definitions, usualDefinition(declaration))
			}
			continue
		}
		definitions = append(definitions, usualDefinition(definition))
	}
	return arena.Raw("[" + strings.Join(definitions, ",") + "]")
}

// schemaOf returns the JSON schema of a tool's arguments in a definition of another form than
// OpenAI's: under input_schema or parametersJsonSchema, or under parameters as JSON in a string.
func schemaOf(definition *value) *value {
	if text := definition.get("parameters"); text.isString() {
		return text.unpack()
	}
	return definition.first("input_schema", "parametersJsonSchema")
}

func isForeignDefinition(definition *value) bool { return schemaOf(definition).isObject() }

// usualDefinition returns a tool definition as JSON in OpenAI's form. A definition in no foreign
// form is unchanged.
func usualDefinition(definition *value) string {
	if !isForeignDefinition(definition) {
		return string(definition.raw())
	}
	name := cmp.Or(definition.get("name").raw(), `""`)
	description := cmp.Or(definition.get("description").raw(), `""`)
	return string(`{"name":` + name + `,"description":` + description + `,"parameters":` + schemaOf(definition).raw() + `}`)
}

func (r *reader) addMessage(m message) {
	a := r.attempt()
	a.messages = append(a.messages, m)
}

// lastMessage returns the message that was added last.
func (r *reader) lastMessage() *message {
	a := r.attempt()
	return &a.messages[len(a.messages)-1]
}

func (r *reader) addText(sender role, text string) {
	r.addMessage(message{
		role: sender,
		step: arena.Step{Content: text},
	})
}

func (r *reader) addResults(results []message) {
	for _, result := range results {
		r.addMessage(result)
	}
}

func (r *reader) addStep(step arena.Step) {
	r.addMessage(message{role: agentRole, step: step})
}

// addResult adds a message with the result of the call that has this id. If callID is empty, the
// result answers the first unanswered call before it.
func (r *reader) addResult(callID string, result arena.Raw) {
	r.addMessage(message{role: toolRole, callID: callID, result: result})
}

// setError sets the error of the current attempt to err and its status to failed. It does nothing
// if err is nil.
func (r *reader) setError(err *arena.AttemptError) {
	if err == nil {
		return
	}
	a := r.attempt()
	a.Status = arena.StatusFailed
	a.Error = err
}
