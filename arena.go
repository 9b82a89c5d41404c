// Package arena holds the border types of the project: one attempt of an
// agent as it was read (Trace, Dialogue), the task it was given (Problem), and the
// results of the stages of a run (Structure, Outcome, Judgement). Packages exchange
// these types and no others; this package imports none of them.
package arena

// Record is one attempt during a run. Each field is written by exactly one stage,
// the one it is named after. Trace is immutable once it was read.
type Record struct {
	Trace    *Trace
	Dialogue Dialogue
	// Graded is Dialogue without the thinking that no logged reply contains. Judges read it.
	Graded Dialogue
	// Logged is the part of Graded that logged replies contain; nil if that is all of it.
	Logged    *Dialogue
	Origin    Origin
	Structure Structure
	Outcome   Outcome
	Judgement Judgement
	// Low is the judgement on Logged if Judgement is withheld for it; else nil.
	Low *Judgement
}

// Dialogue is the normal form of a trace, whatever its dialect: turns of one model with
// OpenAI tool calls, each result stored with the call it answers.
type Dialogue struct {
	Turns []Turn
	// Faults are the codes of what could not be read, in order.
	Faults []string
}

// Turn is one message of the model, or of the user where User is set.
type Turn struct {
	// Step is the index of the trace's step that this turn came from.
	Step int
	// User is a message of the customer after the request itself; all other
	// fields are then empty.
	User string
	// Think is the model's reasoning, Text its visible reply.
	Think string
	Text  string
	Calls []Call
	// Masked reports whether the author of the source took the turn out of training.
	Masked bool
	// Repairs are the codes of the repairs that reading this turn took.
	Repairs []string
}

// Call is one tool call in normal form.
type Call struct {
	// ID is unique within its dialogue.
	ID   string
	Name string
	// Arguments is always a JSON object.
	Arguments Raw
	// Result is the tool's answer; Absent if the call was never answered.
	Result Raw
}

// Harness is the setting that a student acts in: the system prompt it reads
// and the tools it may call. Corpora are rendered and students are evaluated
// with the same ones.
type Harness struct {
	// Name is the profile, such as "7-tool".
	Name   string
	System string
	// Tools are OpenAI tool definitions, one JSON object each.
	Tools []Raw
	// SHA256 is the hex hash over system prompt and tools.
	SHA256 string
}
