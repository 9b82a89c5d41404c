package arena

// Axis is who decided the tool calls of an attempt.
type Axis string

// An attempt is agentic if the model itself decided its calls, scripted if a
// program did, unknown if the record cannot tell.
const (
	AxisAgentic  Axis = "agentic"
	AxisScripted Axis = "scripted"
	AxisUnknown  Axis = "unknown"
)

// Decision is the result of a check. Undecided is the zero value and never a legal result: a
// run that meets it stops.
type Decision uint8

// The decisions of a check.
const (
	Undecided Decision = iota
	Keep
	Drop
)

// Verdict is the result of one check for one attempt, with the measured value and the
// limit it was compared with.
type Verdict struct {
	// Check is the check's versioned name, such as "call_count_v1".
	Check    string
	Decision Decision
	// Reason is a stable code in snake_case; empty if Decision is Keep.
	Reason string
	Value  float64
	Limit  float64
}

// Structure is the result of the structural filter for one attempt.
type Structure struct {
	_    struct{} `cbor:",toarray"`
	Keep bool
	Axis Axis
	// Confidence in Axis, 0 to 1.
	Confidence float64
	// Adaptivity is how far the calls of the agent's day depend on results, 0 to 1;
	// nil if the day is too short.
	Adaptivity *float64
	// Reasons are the codes of all rejecting checks; the first decides.
	Reasons  []string
	Verdicts []Verdict
	// RichnessV1 and RichnessV2 are the subnet's agentic richness, 0 to 1; nil if the
	// log lacks what they are computed from (a dispatch, or a nonce).
	RichnessV1 *float64
	RichnessV2 *float64
	// ThinkingUnsaid is the share of the thinking that stands in no reply of the log, 0 to 1;
	// nil if the log cannot tell. ThinkingStripped reports whether that is so much that the
	// thinking is not the model's: no row holds it, and no judge grades it.
	ThinkingUnsaid   *float64
	ThinkingStripped bool
	// Features are the measured values behind the verdict, in catalogue order.
	Features []Feature
}

// Origin is who wrote the thinking of an attempt, as far as its log shows.
type Origin uint8

// OriginClient is that of thinking with a sentence that no reply of a complete log contains.
// OriginOpen is that of thinking with a sentence that may be in a reply which the log lacks.
const (
	OriginNone Origin = iota // there is no thinking
	OriginModel
	OriginClient
	OriginOpen
)

// Feature is one measured value. NaN means that it could not be measured.
type Feature struct {
	Name  string
	Value float64
}
