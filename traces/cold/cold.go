// Package cold reads what other tools write of their agents: logs, results and
// sessions that are read once, to be imported. A document becomes attempts made of
// messages; package traces makes traces of them. Each format is one reader over the
// helpers of this package, and one line of Formats.
package cold

import (
	"errors"
	"math"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// ErrTooMany says that a document has more messages, calls and parts than are read.
var ErrTooMany = errors.New("more messages and calls than the limit")

// Role is who speaks in a message.
type Role uint8

// The roles. A message of an unknown role is Other.
const (
	Other Role = iota
	System
	User
	Agent
	Tool
	// Observed is what a tool answered, or several: as a list with one element for
	// each call.
	Observed
)

// Message is one message of an attempt.
type Message struct {
	Role Role
	// Step is what an agent says and calls; of other roles it has Content alone.
	Step arena.Step
	// CallID, Name and Result are those of an answer of tools.
	CallID, Name string
	Result       arena.Raw
}

// Attempt is one attempt as a document tells of it. What the document does not say
// is empty or nil.
type Attempt struct {
	// Text is the part of the document that the attempt is, where it holds several.
	Text     string
	Messages []Message
	// System and Query are the system prompt and the request where messages lack them.
	System, Query string
	Tools         arena.Raw
	Model         string
	// Run, Problem, Session and Trial name the attempt.
	Run, Problem, Session, Trial string
	Agent                        arena.Agent
	// Family is the problem's.
	Family string
	// Request is the request whatever messages say, Dialogue whether there is one; Asked
	// reports that no message is the request.
	Request  string
	Dialogue *bool
	Asked    bool
	Reward   *float64
	Status   arena.Status
	Error    *arena.AttemptError
	Seconds  *float64
	// Inferences counts the inference calls, Failures those that failed.
	Inferences, Failures *int
	// NonText reports whether images or other parts were left out, Surrogate whether
	// a text held half of a surrogate pair.
	NonText, Surrogate bool
	// NumberedID reports whether a number stands where an id should, Copied whether steps
	// repeat the context of an earlier trajectory, Forged whether the ledger is another
	// than the verdict names.
	NumberedID, Copied, Forged bool
	// Verdict is the outcome, Transcript the list of the agent's inference calls, of an
	// episode of an environment pack.
	Verdict    Verdict
	Transcript arena.Raw
	// Vetoes are the file's own words for why the attempt is not to be trained on.
	Vetoes []string
	// Lost names what of the source no trace holds, each word once: a kind, or
	// "unread:KEY" for the text under a key that no reader knows.
	Lost []string
}

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
		r.all[i].bound()
	}
	return r.all, nil
}

// bound leaves out numbers beyond a float64, such as 1e400, which no JSON can hold.
func (a *Attempt) bound() {
	beyond := func(n *float64) bool { return n != nil && (math.IsInf(*n, 0) || math.IsNaN(*n)) }
	if beyond(a.Reward) {
		a.Reward, a.Lost = nil, append(a.Lost, lostScore)
	}
	if beyond(a.Seconds) {
		a.Seconds = nil
	}
}
