// Package formats reads the trace formats of other tools and of the subnet: logs,
// results and sessions of agents. A reader turns a document into messages, and the
// package turns the messages of each attempt into a trace.
//
// A new format is one Format variable with its reader. It belongs into Detectable if its
// documents can be recognised without a schema.
package formats

import (
	"errors"

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
	source := arena.Source{Shape: f.Name, TextArguments: !f.Typed}
	for i := range r.attempts {
		r.attempts[i].finish(source)
	}
	return r.attempts, nil
}
