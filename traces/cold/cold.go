// Package cold reads what other tools write of their agents: logs, results and
// sessions that are read once, to be imported. A document becomes attempts made of
// messages, and these become traces. Each format is one reader over the helpers of this
// package, and one line of Formats.
package cold

import (
	"errors"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// ErrTooMany says that a document has more messages, calls and parts than are read.
var ErrTooMany = errors.New("more messages and calls than the limit")

// What of a source no trace holds, beside "unread:KEY".
const (
	lostBranches     = "other_branches"        // what was said beside the branch or conversation that is read, as by subagents
	lostGreeting     = "greeting"              // a first message of the agent that no model wrote
	lostUserTools    = "user_tools"            // calls of the simulated user's own tools, with their answers
	lostReasoning    = "hidden_reasoning"      // reasoning that the provider keeps encrypted
	lostScores       = "other_scores"          // scores beside the one that is the reward
	lostParseError   = "parse_error"           // why a call could not be read by the tool that recorded it
	lostProviderItem = "provider_item"         // a search or another call that the provider made itself, with what came of it
	lostResultError  = "result_error"          // that a tool's answer is an error; its words are kept
	lostScore        = "score"                 // a score that is no number
	lostSteps        = "steps_outside_history" // steps that SWE-agent took and that its history does not hold
)

// Format is a format and its reader.
type Format struct {
	// Name is the word for the format, Writers the tools that write it.
	Name    arena.Shape
	Writers string
	// Kept says what of it a trace has beside messages, calls and results.
	Kept string
	// Typed reports whether arguments are values; else they may be written as text.
	Typed bool
	is    func(top object) bool
	read  func(r *reader, top object)
}

// Formats are all formats, in the order in which a document is held against them.
var Formats = []Format{sweAgent, inspectLog, verifiersResult, verifiersEpisode, tau2, exchange, claudeCode, spans}

// Find is the format of a document, which must be a valid JSON object; nil where
// it is none of this package's.
func Find(doc string) *Format {
	top := fields(gjson.Parse(doc))
	for i := range Formats {
		if Formats[i].is(top) {
			return &Formats[i]
		}
	}
	return nil
}

// Read reads the attempts of a document that is of the format, at most so many
// messages, calls and parts of them together. Its error is ErrTooMany, or a
// *NoMessages.
func (f *Format) Read(doc string, limit int) ([]Attempt, error) {
	r := &reader{left: limit}
	f.read(r, fields(gjson.Parse(doc)))
	if r.left < 0 {
		return nil, ErrTooMany
	}
	if r.err != nil {
		return nil, r.err
	}
	for i := range r.all {
		r.all[i].finish(arena.Source{Shape: f.Name, TextArguments: !f.Typed})
	}
	return r.all, nil
}
