package arena

// JudgeOutcome is whether a judge could answer. Only a scored judgement has a score: an
// instrument's failure is never a low grade.
type JudgeOutcome string

// The outcomes of a judgement.
const (
	JudgeScored      JudgeOutcome = "scored"
	JudgeRefused     JudgeOutcome = "refused"            // the judge refused to answer
	JudgeUnparsed    JudgeOutcome = "unparsed"           // the judge's answer cannot be read
	JudgeFailed      JudgeOutcome = "failed"             // the judge could not be reached
	JudgeUnsaid      JudgeOutcome = "thinking_unsaid"    // no reply of the log holds the thinking: the judge was not asked, and rows of the attempt have no thinking
	JudgeUndecided   JudgeOutcome = "thinking_undecided" // the grade rests on sentences that may be in a reply which the log lacks, or the client's
	JudgeNotMeasured JudgeOutcome = "not_measured"       // the judge was not measured on the domain of the attempt, so that it was not asked
	JudgeNotAsked    JudgeOutcome = "not_asked"          // the attempt cannot become a row and was not drawn: the judge was not asked
)

// IsAsked reports whether a judge was asked and its answer counts.
func (o JudgeOutcome) IsAsked() bool {
	return o != "" && o.IsGradable() && o != JudgeNotAsked
}

// IsGradable reports whether an attempt with this outcome of its judgement can have a grade at all.
// It cannot if the judge was not measured on its kind of task, or if it is not known that a model
// wrote its thinking. Only attempts that can have a grade count in the figures of their run: the mean
// grade, and the share of attempts that have one.
func (o JudgeOutcome) IsGradable() bool {
	return o != JudgeUnsaid && o != JudgeUndecided && o != JudgeNotMeasured
}

// Judgement is one judge's answer on the reasoning of one attempt.
type Judgement struct {
	_ struct{} `cbor:",toarray"`
	// Judge is the versioned name, such as "gates_v5".
	Judge   string
	Outcome JudgeOutcome
	// Score is 0.1, 0.3, 0.5, 0.7 or 0.9; nil unless Outcome is scored.
	Score *float64
	// Expected is the mean of the scores by the probabilities that a model's tokens have; nil if the
	// server gave none.
	Expected *float64
	// Votes has the votes of a panel of models; nil for a judge with one vote.
	Votes []Vote
	// Gates has a result for each gate; all after the first failed one are false.
	// Nil if the judge does not report gates.
	Gates []bool
	// Spans point to the passage that passed or failed each gate.
	Spans []Span
	// Doubt is the fault of a model's quotes, for which its answer is no grade, or empty.
	Doubt JudgeDoubt
	// Model and PromptSHA256 are empty for a judge without a model.
	Model            string
	PromptSHA256     string
	PromptTokens     int
	CompletionTokens int
	// CostUSD is nil if no price is known.
	CostUSD *float64
	// Cached reports whether the ledger already held the answer.
	Cached bool
	// Detail is a sentence on what was missing or went wrong.
	Detail string
}

// Vote is the score that one model of a panel gave.
type Vote struct {
	_     struct{} `cbor:",toarray"`
	Model string   `json:"model"`
	Score float64  `json:"score"`
}

// JudgeDoubt is a fault of a judge's quotes.
type JudgeDoubt string

// A gate passed without a quote; a quote that the trajectory does not hold.
const (
	DoubtNoQuote JudgeDoubt = "quote_missing"
	DoubtUnfound JudgeDoubt = "quote_unfound"
)

// Span is a passage that a judge cites.
type Span struct {
	_ struct{} `cbor:",toarray"`
	// Gate counts from 1.
	Gate int
	// Step is the dialogue's step number; 0 if the judge names none.
	Step  int
	Quote string
}

// Need is whether an attempt needed one of its steps.
type Need string

// The verdicts on a step. Unclear is a judge's answer, not a missing one.
const (
	StepNeeded  Need = "needed"
	StepWaste   Need = "waste"
	StepUnclear Need = "unclear"
)

// StepVerdict is a judge's verdict on one turn of the model.
type StepVerdict struct {
	// Step is the dialogue's own number of the step.
	Step   int
	Need   Need
	Reason string
	// Quote is the passage that decided; empty if the judge cites none.
	Quote string
}

// StepJudgement is one judge's answer on the steps of one attempt. Its Score,
// Gates and Spans are empty.
type StepJudgement struct {
	Judgement
	// Steps has a verdict for each turn of the model, in order; nil unless
	// Outcome is scored.
	Steps []StepVerdict
}
