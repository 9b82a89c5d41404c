package arena

// Outcome is the result of the subnet's own rules for an attempt.
type Outcome struct {
	_ struct{} `cbor:",toarray"`
	// Scores is nil if the attempt has no score: it did not end well, or has no
	// dialogue.
	Scores  *Scores
	Success bool
	// Error is the reason why there is no score; empty otherwise.
	Error string
	// Titles is the source of the title similarity.
	Titles TitleSource
	// Ruling is the result of the subnet's own verifier for an episode in an environment
	// pack. It is copied and never computed again.
	Ruling *Ruling
}

// RuledOutcome returns the outcome of an attempt that has a ruling.
func RuledOutcome(r *Ruling) Outcome {
	return Outcome{Success: r.Success, Error: r.Void, Titles: TitlesNone, Ruling: r}
}

// Scored reports whether the attempt has a score, by the rules or by a ruling.
func (o *Outcome) Scored() bool {
	return o.Scores != nil || o.Ruling != nil && o.Ruling.Score != nil
}

// Findings are the subnet's own figures for a run or one of its attempts, each from 0 to 1, or nil
// if the subnet has none. Quality is the reasoning quality by its judge; for a run, the mean over
// its attempts. Coefficient is the factor by which the outcomes of a run were multiplied. Score is
// the score; for an attempt, before that multiplication.
type Findings struct {
	Quality, Coefficient, Score *float64
	// Category is the kind of task of an attempt, in lower case; empty if unknown.
	Category string
}

// Scores is one score by the subnet's rules. Every number is in 0 to 1.
type Scores struct {
	_      struct{} `cbor:",toarray"`
	Length float64
	Format float64
	// Axes is nil for a product task without a known recommended product.
	Axes *Axes
}

// Axes are the task's own scores, sums over products divided by the number of
// rewards.
type Axes struct {
	_        struct{} `cbor:",toarray"`
	Product  float64
	GT       float64
	Rule     float64
	Title    float64
	Price    float64
	Service  float64
	SKUAttrs float64
	// Shop and Budget are 0 or 1, nil where the task has no such axis.
	Shop   *int
	Budget *int
}

// TitleSource is how titles were compared.
type TitleSource string

// The sources of title similarity. With TitlesNone, titles are left out of the rule's total.
const (
	TitlesNone     TitleSource = "none"
	TitlesVectors  TitleSource = "vectors"
	TitlesEndpoint TitleSource = "endpoint"
)

// Ruling is the outcome that a source records: the result of the subnet's own verifier for an episode
// in an environment pack, or the reward that the traces of another tool declare. It is copied from
// the source and never computed again.
type Ruling struct {
	// Declared reports whether the outcome follows from a declared reward and is no verifier's
	// result. Category, checks, flags and events are then empty.
	Declared bool
	// Score is the episode's reward, 0 to 1; nil if the verifier returned none.
	Score *float64
	// Success reports whether the request was met.
	Success bool
	// Category is the verifier's reason why it was not met, in snake case, such as
	// "changes_missed"; empty if it was met or the verifier has no reason.
	Category string
	// Passed and Failed are the verifier's checks by name, sorted.
	Passed []string
	Failed []string
	// Flags are the verifier's notes, such as "possible_world_defect".
	Flags []string
	// Ending is the end of the episode as the session recorded it, such as "completed"
	// or "agent_error"; for a ledger without a session, its finish reason.
	Ending string
	// Void is the reason why the outcome is unknown: "environment_error", "verifier_error",
	// "infrastructure_error" or "undeclared_outcome". There is neither score nor success then.
	Void string
	// Events counts the changes of the world that the ledger records.
	Events int
}
