// Package formats reads the trace formats of other tools and of the subnet: logs,
// results and sessions of agents. A reader turns a document into messages, and the
// package turns the messages of each attempt into a trace.
//
// A new format is one Format variable with its reader. It belongs into Detectable if its
// documents can be recognised without a schema.
package formats

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena"
)

// ErrTooMany is the error of a document with more messages, calls and parts than the
// limit.
var ErrTooMany = errors.New("more messages and calls than the limit")

// NoMessages is the error of a document whose messages or steps are not a list.
type NoMessages struct {
	// Name is the JSON key that should hold the list.
	Name string
	// Kind is the type of the value under Name.
	Kind arena.Kind
}

// Error returns the key and that its value is not a list.
func (e *NoMessages) Error() string { return e.Name + " are no list" }

// LostNumber is the code for a number that JSON does not have, which is found before a format reads
// the record.
const LostNumber = lostNumber

// LostScores is the code for scores beside the one that is the reward, which evaluators record in
// files of their own.
const LostScores = lostScores

// LostOpposite is the code for a boolean that says the opposite of the reward.
const LostOpposite = lostOpposite

// Codes for content of a source that a Trace has no field for, in addition to "unread:KEY".
const (
	lostBranches    = "other_branches"        // what was said beside the branch or conversation that is read, as by subagents
	lostNumber      = "not_a_number"          // a number that JSON does not have, such as NaN; it is read as unknown
	lostRepeated    = "repeated_lines"        // lines of a session that were written twice
	lostSynthetic   = "synthetic_reply"       // a text that the program wrote in the place of a reply, such as an error of the API
	lostCommands    = "client_command"        // commands to the client, with their output
	lostContext     = "context_replaced"      // the conversation before a compaction; its summary is read as the request
	lostAttachment  = "attachment"            // an attachment that the model saw
	lostGreeting    = "greeting"              // a first message of the agent that no model wrote
	lostUserTools   = "user_tools"            // calls of the simulated user's own tools, with their answers
	lostMetadata    = "metadata"              // ids, times, versions, places and costs of a program's records
	lostEvents      = "program_events"        // what a program recorded of itself beside the conversation
	lostReasoning   = "hidden_reasoning"      // reasoning that the provider keeps encrypted
	lostOpposite    = "opposite_outcome"      // a boolean, or its text, that says the opposite of the reward, which decides
	lostScores      = "other_scores"          // scores beside the one that is the reward
	lostParseError  = "parse_error"           // why a call could not be read by the tool that recorded it
	lostSpans       = "other_spans"           // spans of tools and agents, and calls whose conversation the call that is read repeats
	lostResultError = "result_error"          // that a tool's answer is an error; its words are kept
	lostScore       = "score"                 // a score that is no number
	lostShared      = "shared_result"         // that one result answers several calls; it stands at the last of them
	lostSteps       = "steps_outside_history" // steps that SWE-agent took and that its history does not hold
)

// Format is a trace format with its reader.
type Format struct {
	// Name identifies the format in traces and reports.
	Name arena.Shape
	// Writers names the tools that write the format.
	Writers string
	// Retained lists what a trace keeps of a document beside messages, calls and results.
	Retained string
	// Whole says how to make a document with an attempt of one that is only a part of an attempt.
	// It is empty for a format whose documents are whole.
	Whole string
	// Typed reports whether the arguments of calls are JSON values. Otherwise they may be
	// JSON in a string.
	Typed bool
	// isProgramRecord is set if the program that called the model wrote the document as its own
	// log. Ids, times and costs that no reader reads are then one loss, lostMetadata.
	isProgramRecord bool

	// matches reports whether a document has the format. It is nil for a format that is not
	// in Detectable.
	matches func(doc *value) bool
	read    func(r *reader, doc *value)
}

// Detectable lists the formats that Detect tries, in this order.
var Detectable = []Format{
	sweAgent, inspectLog, verifiersResult, verifiersEpisode, tau2, tauBench, geminiCLI, openCode, openHands, exchange,
	claudeCode, codex, sessionTrace, pi, spans,
}

// Detect returns the format of a document, which must be a valid JSON object, or nil if
// the document has none of the formats in Detectable.
func Detect(doc string) *Format {
	top := parse(doc)
	for i := range Detectable {
		if Detectable[i].matches(top) {
			return &Detectable[i]
		}
	}
	return nil
}

// Read returns the attempts of a document of format f. The document may have limit
// messages, calls and parts of messages in total. The error is ErrTooMany or a
// *NoMessages.
func (f *Format) Read(doc string, limit int) ([]Attempt, error) {
	r := &reader{remaining: limit}
	top := parse(doc)
	f.read(r, top)
	if r.remaining < 0 {
		return nil, ErrTooMany
	}
	if r.err != nil {
		return nil, r.err
	}

	r.nameUnread(top, f.isProgramRecord)
	r.nameOpposite(top)
	source := arena.Source{Shape: f.Name, TextArguments: !f.Typed}
	for i := range r.attempts {
		r.attempts[i].finish(source)
	}
	return r.attempts, nil
}

// verdictKeys are keys of documents whose booleans, or texts such as "false", say whether an
// attempt is solved.
var verdictKeys = []string{"correct", "is_correct", "passed", "resolved", "solved", "success"}

// nameOpposite adds a loss to the only attempt of a document if one of verdictKeys says that the
// attempt is solved and the reward is at most 0, or that it is not and the reward is at least 1.
func (r *reader) nameOpposite(top *value) {
	if len(r.attempts) != 1 || r.attempt().Declared == nil {
		return
	}
	reward := *r.attempt().Declared
	for _, key := range verdictKeys {
		verdict := top.get(key)
		isSolved, err := strconv.ParseBool(strings.ToLower(verdict.json.String()))
		if err != nil || verdict.isNumber() { // a number may count tests
			continue
		}
		isOpposite := reward >= 1
		if isSolved {
			isOpposite = reward <= 0
		}
		if isOpposite {
			r.addLoss(lostOpposite)
		}
	}
}

// reader collects the attempts of a document while it is read.
type reader struct {
	// remaining is the number of messages, calls and parts that may still be read. It is
	// negative once the limit is exceeded.
	remaining int
	attempts  []Attempt
	// isRow is set if the document is a row of messages, isShareGPT if it is one in ShareGPT's
	// format.
	isRow, isShareGPT bool
	// hasAssistant is set if a message of the list that is read has the model's role by another name
	// than agent.
	hasAssistant bool
	err          error
}

// begin adds an attempt to the results of the document and returns a pointer to it, which is valid
// until the next call. part is the JSON of the attempt within the document, empty if the document
// has no other attempt. own are the values of the document that belong to this attempt alone.
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

// eachObject calls visit for those elements of a list that are objects, within the limit of each.
func (r *reader) eachObject(list *value, visit func(v *value)) {
	r.each(list, func(v *value) {
		if v.isObject() {
			visit(v)
		}
	})
}

// text returns v if it is a string, and otherwise "". gjson replaces half of a surrogate pair in a
// string by U+FFFD; text then sets HasLoneSurrogate of the attempt.
func (r *reader) text(v *value) string {
	text := v.str()
	if strings.ContainsRune(text, '\uFFFD') && !writesReplacement(v.json.Raw) {
		r.attempt().HasLoneSurrogate = true
	}
	return text
}

// textOf returns the text of the member of v with this name.
func (r *reader) textOf(v *value, name string) string { return r.text(v.get(name)) }

// writesReplacement reports whether U+FFFD is written in the JSON text raw, plain or escaped. If
// not, gjson has put it in place of half of a surrogate pair.
func writesReplacement(raw string) bool {
	return strings.Contains(strings.ToLower(raw), `\ufffd`) || strings.ContainsRune(raw, '\uFFFD')
}

// addLoss records, once for each attempt, the code of something in the source that is lost because
// the trace has no field for it.
func (r *reader) addLoss(reason string) {
	r.attempt().addLoss(reason)
}

// toolDefinitions returns a list of tool definitions as a JSON array. The list, and each
// definition, may be a string with JSON. Definitions of Anthropic's and Gemini's API are converted
// to OpenAI's form. The result is "" if v is no list.
func toolDefinitions(v *value) arena.Raw {
	v = v.unpack()
	first := v.firstElement()
	if !v.isArray() && !first.exists() {
		return ""
	}
	isUsual := first.isObject() && !isForeignDefinition(first) && !first.has("functionDeclarations")
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

// schemaOf returns the JSON schema of a tool's arguments from a definition that does not have
// OpenAI's form: the value of input_schema or parametersJsonSchema, or the JSON in the string
// parameters.
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
// result is assigned to an earlier call that has no result yet.
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
