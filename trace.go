package arena

import "slices"

// Trace is one attempt as its source recorded it, in every dialect and from
// every shape of file. It is immutable after reading; its strings live in one
// piece of memory that is freed with it.
type Trace struct {
	// ID is "run/problem", or RecordSHA256 where either part is unknown.
	ID        string
	RunID     string
	ProblemID string
	Agent     Agent
	Source    Source
	// RecordSHA256 is the lower-case hex sha256 of the record's own bytes: the
	// line, or the whole file where a file holds one attempt.
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
	// HasDialogue is false where the source holds null instead of a dialogue:
	// the attempt timed out or failed and left nothing to judge.
	HasDialogue bool
	Steps       []Step
	// System is the system prompt, where the source keeps it.
	System string
	// Tools are the tool definitions, where the source keeps them.
	Tools Raw
	// Model is the model that answered, where the source names it once.
	Model string
	// Declared is the reward the source itself states; nil where it has none.
	Declared *float64
	// Family is the kind of task as an environment pack names it; empty elsewhere.
	Family string
	// Ruling is the verdict of the subnet's own verifier; nil where the source has
	// none, so that the attempt is scored by the rules.
	Ruling *Ruling
	// Vetoes are reasons for which the trace may not enter a corpus although it
	// could be read, as stable snake_case words. Its reader sets them.
	Vetoes []string
	// Lost names what the source holds besides that a Trace has no place for, as
	// stable words that docs/traces.md lists; "unread:KEY" is text under a key that no
	// reader knows. Its reader sets them.
	Lost []string
}

// Veto gives a trace a veto, each once: one that this program wrote may bring along what
// its reader finds again.
func (t *Trace) Veto(word string) {
	if !slices.Contains(t.Vetoes, word) {
		t.Vetoes = append(t.Vetoes, word)
	}
}

// Agent says who made an attempt.
type Agent struct {
	VersionID string
	Hotkey    string
	// Suite is the version of the problem suite, such as "v3".
	Suite string
	// StartedAt is the start of the run as its metadata gives it (RFC 3339).
	StartedAt string
}

// Source says where a trace was read. An input file is named by its content:
// paths never reach an output.
type Source struct {
	FileSHA256 string
	// Line counts from 1; 0 where the file is one attempt.
	Line int
	// Shape names the file format for people. What follows from a format is said
	// by the facts below, which its reader sets; nothing else may follow from the
	// name.
	Shape Shape
	// HasProxyLog reports whether inference passed through the logging proxy and
	// the source keeps its log, so that an empty log means no inference.
	HasProxyLog bool
	// TextArguments reports whether the format writes the arguments of calls as
	// JSON in a string, so that reading them so mends nothing.
	TextArguments bool
}

// Shape is the word for a file format; docs/traces.md lists them.
type Shape string

// Status is how the sandbox saw an attempt end.
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

// Step is one entry of a dialogue: what was said, which calls it records with
// their results, and which calls the proxy saw meanwhile.
type Step struct {
	// Role is who speaks. Sandbox dialogues hold agent steps only.
	Role Role
	// Number is the step's own count from 1; its position where it has none.
	Number int
	// Think and Response are the message's own fields; Content is the text the
	// model is said to have written, Reasoning its reasoning_content.
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
	// LLMCalls is how many inference calls made this step, 0 where a program did;
	// nil where the source does not say (only ATIF does, in llm_call_count).
	LLMCalls *int
	// Raw is the whole step as its source wrote it; empty outside the sandbox's
	// shapes.
	Raw Raw
	// Typed reports whether the message held nothing but what the sandbox writes, in
	// its types, so that the fields above say all that Raw does of it.
	Typed bool
}

// Role is who speaks in a step.
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
	// Result is any JSON; Absent where the source holds none for this call.
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
	// Status is the HTTP status; 0 where it is null.
	Status int
	// Params are the query parameters, Body the recorded JSON body, Response
	// the reply where the log kept it.
	Params   Raw
	Body     Raw
	Response Raw
	// Truncated reports whether the log cut the reply; Length is then its size in
	// characters, -1 where it is not recorded.
	Truncated bool
	Length    int
	// ProductIDs are the ids a truncated search returned, nil where absent.
	ProductIDs []string
	// Nonce is nonce_status, empty in versions of the log that lack it.
	Nonce string
}

// StepNumber is the dialogue's own number of the step at an index, or its place,
// counted from 1, where the source numbers none.
func (t *Trace) StepNumber(step int) int {
	if step >= 0 && step < len(t.Steps) && t.Steps[step].Number > 0 {
		return t.Steps[step].Number
	}
	return step + 1
}
