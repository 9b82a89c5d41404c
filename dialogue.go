package arena

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
