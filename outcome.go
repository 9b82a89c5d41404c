package arena

// Outcome is what the subnet's own rules give an attempt.
type Outcome struct {
	_ struct{} `cbor:",toarray"`
	// Scores is nil where the attempt has no score: it did not end well, or
	// left no dialogue.
	Scores  *Scores
	Success bool
	// Error says why there is no score; empty otherwise.
	Error string
	// Titles says where the title similarity came from.
	Titles TitleSource
	// Ruling is the verdict that the attempt brought along, which then is the outcome;
	// nil where the rules scored it. It has no Scores.
	Ruling *Ruling
}

// Scored reports whether the attempt has a score, by the rules or by a ruling.
func (o *Outcome) Scored() bool {
	return o.Scores != nil || o.Ruling != nil && o.Ruling.Score != nil
}

// Findings are the subnet's own of a run or of one of its attempts, each 0 to 1, nil where
// it does not say: the reasoning quality by its judge (a run's is its attempts' mean), what
// a run's outcomes were weighed with, and the score, an attempt's before it is weighed.
type Findings struct {
	Quality, Coefficient, Score *float64
	// Category is an attempt's, in lower case; empty where unknown.
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

// TitleSource says how titles were compared.
type TitleSource string

// The sources of title similarity. Without one, titles are left out of the
// rule's total.
const (
	TitlesNone     TitleSource = "none"
	TitlesVectors  TitleSource = "vectors"
	TitlesEndpoint TitleSource = "endpoint"
)

// Ruling is what the subnet's own verifier said of an episode in an
// environment pack. It is carried as it came and never computed again.
type Ruling struct {
	// Score is what was paid for the episode, 0 to 1; nil where the verifier gave
	// none.
	Score *float64
	// Success reports whether the request was met.
	Success bool
	// Category says in the verifier's word, in snake case, why it was not met, such as
	// "changes_missed"; empty where it was, or where the verifier does not say.
	Category string
	// Passed and Failed are the verifier's checks by name, sorted.
	Passed []string
	Failed []string
	// Flags are the verifier's notes, such as "possible_world_defect".
	Flags []string
	// Ending is how the session saw the episode end, such as "completed" or
	// "agent_error"; for a bare ledger the reason of its finish.
	Ending string
	// Void says why the episode is no attempt of the agent: "environment_error" or
	// "verifier_error". Such an episode has neither score nor success.
	Void string
	// Events counts the changes of the world that the ledger records.
	Events int
}
