package arena

// Axis says who decided the tool calls of an attempt.
type Axis string

// An attempt is agentic if the model itself decided its calls, scripted if a
// program did, unknown if the record cannot tell.
const (
	AxisAgentic  Axis = "agentic"
	AxisScripted Axis = "scripted"
	AxisUnknown  Axis = "unknown"
)

// Decision is what a check says. Undecided is the zero value and never a
// legal answer: a run that meets it stops.
type Decision uint8

// The decisions of a check.
const (
	Undecided Decision = iota
	Keep
	Drop
)

// Verdict is the answer of one check on one attempt, with the value that was
// measured and the limit it was held against.
type Verdict struct {
	// Check is the check's versioned name, such as "call_count_v1".
	Check    string
	Decision Decision
	// Reason is a stable snake_case word; empty where Decision is Keep.
	Reason string
	Value  float64
	Limit  float64
}

// Structure is what the structural filter says of one attempt.
type Structure struct {
	_    struct{} `cbor:",toarray"`
	Keep bool
	Axis Axis
	// Confidence in Axis, 0 to 1.
	Confidence float64
	// Adaptivity says how far the calls of the agent's day depend on results, 0 to
	// 1; nil where its day is too short to tell.
	Adaptivity *float64
	// Reasons lists every reject; the first decides.
	Reasons  []string
	Verdicts []Verdict
	// RichnessV1 and RichnessV2 are the subnet's agentic richness, 0 to 1; nil
	// where the log cannot answer (no dispatch, or no nonce).
	RichnessV1 *float64
	RichnessV2 *float64
	// Features are the measured values behind the verdict, in catalogue order.
	Features []Feature
}

// Feature is one measured value. NaN means that it could not be measured.
type Feature struct {
	Name  string
	Value float64
}
