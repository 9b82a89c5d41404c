package arena

import "slices"

// Trace is one attempt as its source recorded it, in every dialect and from
// every shape of file. It is immutable after reading; its strings share one
// piece of memory.
type Trace struct {
	// ID is "run/problem", or RecordSHA256 if either part is unknown.
	ID        string
	RunID     string
	ProblemID string
	Agent     Agent
	Source    Source
	// RecordSHA256 is the lower-case hex sha256 of the record's own bytes: the
	// line, or the file if it holds one attempt.
	RecordSHA256 string
	// Bytes is the uncompressed size of the record.
	Bytes int

	Status Status
	// Seconds is the wall time of the attempt; NaN where the source has none.
	Seconds float64
	// InferenceTotal and InferenceFailures count chat completions as the
	// sandbox saw them; -1 where the source has none.
	InferenceTotal    int
	InferenceFailures int
	Error             *AttemptError

	// Query is the customer's request, verbatim.
	Query string
	// Task is the statement of the task if it is not the request: what a simulated customer
	// was told. The model has not read it.
	Task string
	// HasDialogue is false if the source holds null instead of a dialogue: the
	// attempt timed out or failed and there is nothing to judge.
	HasDialogue bool
	Steps       []Step
	// System is the system prompt, if the source has it.
	System string
	// Tools are the tool definitions, if the source has them.
	Tools Raw
	// Model is the model that answered, if the source names one.
	Model string
	// Declared is the reward that the source states; nil if it states none.
	Declared *float64
	// Family is the kind of task as an environment pack names it; empty elsewhere.
	Family string
	// Ruling is the verdict of the subnet's own verifier; nil if the source has none and
	// the attempt is scored by the rules.
	Ruling *Ruling
	// Vetoes are the codes of reasons for which the trace may not enter a corpus
	// although it could be read. Its reader sets them.
	Vetoes []string
	// Lost are the codes of what the source holds and a Trace has no field for;
	// docs/traces.md lists them. "unread:KEY" is text under a key that no reader
	// knows. The trace's reader sets them.
	Lost []string
}

// Veto adds a veto unless the trace already has it. A trace that this program wrote may contain a
// veto that its reader adds again.
func (t *Trace) Veto(code string) {
	if !slices.Contains(t.Vetoes, code) {
		t.Vetoes = append(t.Vetoes, code)
	}
}

// Agent is who made an attempt.
type Agent struct {
	VersionID string
	Hotkey    string
	// Suite is the version of the problem suite, such as "v3".
	Suite string
	// StartedAt is the start of the run as its metadata gives it (RFC 3339).
	StartedAt string
}

// Source is the place where a trace was read. An input file is named by its content: paths
// never reach an output.
type Source struct {
	FileSHA256 string
	// Line counts from 1; 0 where the file is one attempt.
	Line int
	// Shape is the name of the file format, for people. Code must not depend on it: what
	// follows from a format is in the fields below, which its reader sets. Only package
	// domain reads it, since a domain may list the formats of its traces.
	Shape Shape
	// HasProxyLog reports whether inference passed through the logging proxy and
	// the source keeps its log, so that an empty log means no inference.
	HasProxyLog bool
	// TextArguments reports whether the format writes the arguments of calls as
	// JSON in a string, so that parsing the string is no repair.
	TextArguments bool
}

// Shape is the name of a file format; docs/traces.md lists them.
type Shape string

// Status is the end of an attempt as the sandbox recorded it.
type Status string

// The sandbox's own words. Shapes without a status read as StatusSuccess.
const (
	StatusSuccess  Status = "SUCCESS"
	StatusFailed   Status = "FAILED"
	StatusTimedOut Status = "TIMED_OUT"
)

// AttemptError is the error that the sandbox recorded with an attempt.
type AttemptError struct {
	Type    string
	Message string
}

// Step is one entry of a dialogue: its message, the calls it records with their results, and
// the calls that the proxy saw during it.
type Step struct {
	// Role is the message's role. Sandbox dialogues hold agent steps only.
	Role Role
	// Number is the step's own number from 1, or its position if it has none.
	Number int
	// Think and Response are the message's own fields; Content is the text that the
	// dialogue attributes to the model, Reasoning its reasoning_content.
	Think     string
	Response  string
	Content   string
	Reasoning string
	// Calls are the tool calls that the dialogue claims, with their results.
	Calls []ToolCall
	// Timestamp is the step's time in Unix milliseconds, verbatim.
	Timestamp Raw
	// Proxy holds the calls that the proxy filed under this step, in its order.
	// A call's time is the moment it finished.
	Proxy []ProxyCall
	// Masked reports whether the author of the source took the agent's message out of training.
	Masked bool
	// LLMCalls is the number of inference calls that made this step, 0 if a program
	// made it; nil if the source has no count (only ATIF has, in llm_call_count).
	LLMCalls *int
	// Raw is the whole step as its source wrote it; empty outside the sandbox's
	// shapes.
	Raw Raw
	// Typed reports whether the message has exactly the sandbox's keys and types, so
	// that the fields above hold all of Raw.
	Typed bool
}

// Role is the author of a step's message.
type Role uint8

// The zero value is the agent: most steps are its own.
const (
	RoleAgent Role = iota
	RoleUser
	RoleSystem
)

// ToolCall is one call as a dialogue claims it.
type ToolCall struct {
	ID   string
	Name string
	// Arguments is an object in the sandbox's shapes and a JSON string in
	// OpenAI's.
	Arguments Raw
	// Result is any JSON; Absent if the source holds none for this call.
	Result Raw
}

// ProxyCall is one HTTP call that the proxy between agent and world saw. It
// is the evidence of what was really dispatched.
type ProxyCall struct {
	// Attempt marks a diagnostic entry (kind "attempt"); it is no evidence.
	Attempt bool
	Method  string
	Path    string
	// AtMS is the moment the call finished, Unix milliseconds; 0 if unknown.
	AtMS       int64
	DurationMS float64
	// Status is the HTTP status; 0 if it is null.
	Status int
	// Params are the query parameters, Body the recorded JSON body, Response the
	// reply if the log has it.
	Params   Raw
	Body     Raw
	Response Raw
	// Truncated reports whether the log cut the reply; Length is then its size in
	// characters, -1 where it is not recorded.
	Truncated bool
	Length    int
	// ItemIDs are the ids that a truncated search returned, nil if absent.
	ItemIDs []string
	// Nonce is nonce_status, empty in versions of the log that lack it.
	Nonce string
}

// StepNumber returns the dialogue's own number of the step at an index, or the index plus 1
// if the source numbers no steps.
func (t *Trace) StepNumber(step int) int {
	if step >= 0 && step < len(t.Steps) && t.Steps[step].Number > 0 {
		return t.Steps[step].Number
	}
	return step + 1
}
