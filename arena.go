// Package arena holds the border types of the project: what one attempt of a
// shopping agent is once it has been read (Trace, Dialogue), what it was asked
// (Problem), and what the stages of a run say about it (Structure,
// Outcome, Judgement). Every other package speaks to its neighbours in these
// types and in no others; this package imports none of them.
package arena

// Record is one attempt on its way through a run. Each field has exactly one
// writer: the stage it is named after. Trace is immutable once it was read.
type Record struct {
	Trace     *Trace
	Dialogue  Dialogue
	Structure Structure
	Outcome   Outcome
	Judgement Judgement
}

// Dialogue is the normal form of a trace: whatever its dialect, turns of one
// model with OpenAI tool calls, every result beside the call it answers.
type Dialogue struct {
	Turns []Turn
	// Faults are what could not be read: stable snake_case words, in order.
	Faults []string
}

// Turn is one message of the model, or of the user where User is set.
type Turn struct {
	// Step is the index of the trace's step that this turn came from.
	Step int
	// User is a message of the customer after the request itself; all other
	// fields are then empty.
	User string
	// Think is the model's reasoning, Text what it said aloud.
	Think string
	Text  string
	Calls []Call
	// Repairs name what had to be mended to read this turn.
	Repairs []string
}

// Call is one tool call in normal form.
type Call struct {
	// ID is unique within its dialogue.
	ID   string
	Name string
	// Arguments is always a JSON object.
	Arguments Raw
	// Result is the tool's answer; Absent where the call was never answered.
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
