// Package judgements writes judgements as lines of JSON, one per attempt:
// of the whole, or of its steps.
package judgements

import (
	"math"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// head begins every line. What is missing is null.
type head struct {
	RunID     string             `json:"eval_run_id"`
	ProblemID string             `json:"problem_id"`
	Judge     string             `json:"judge"`
	Outcome   arena.JudgeOutcome `json:"outcome"`
}

// asked is what every judgement says of the asking.
type asked struct {
	Model        *string `json:"model"`
	PromptSHA256 *string `json:"prompt_sha256"`
	Tokens       tokens  `json:"tokens"`
	// CostUSD is in US dollars.
	CostUSD *float64 `json:"cost_usd"`
	Cached  bool     `json:"cached"`
	// Detail is what the first gate that failed misses, or why there is no
	// answer.
	Detail *string `json:"detail"`
}

type tokens struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
}

func parts(t *arena.Trace, j *arena.Judgement) (head, asked) {
	return head{t.RunID, t.ProblemID, j.Judge, j.Outcome},
		asked{orNull(j.Model), orNull(j.PromptSHA256), tokens{j.PromptTokens, j.CompletionTokens}, finite(j.CostUSD), j.Cached, orNull(j.Detail)}
}

type span struct {
	Gate  int    `json:"gate"`
	Step  *int   `json:"step"`
	Quote string `json:"quote"`
}

// Line is the line of one attempt's judgement, without its line end.
func Line(t *arena.Trace, j arena.Judgement) []byte {
	h, a := parts(t, &j)
	spans := make([]span, len(j.Spans))
	for i, s := range j.Spans {
		spans[i] = span{s.Gate, orNull(max(s.Step, 0)), s.Quote}
	}
	return asjson.Plain(struct {
		head
		Score *float64 `json:"score"`
		Gates []bool   `json:"gates"`
		Spans []span   `json:"spans"`
		// Doubt is what is wrong with the spans, if anything is.
		Doubt *arena.JudgeDoubt `json:"doubt"`
		asked
	}{h, finite(j.Score), j.Gates, spans, orNull(j.Doubt), a})
}

type verdict struct {
	Step    int        `json:"step"`
	Verdict arena.Need `json:"verdict"`
	Reason  *string    `json:"reason"`
	Quote   *string    `json:"quote"`
}

// StepsLine is the line of one attempt's judgement of steps, without its line end.
// Where there are no verdicts, steps is null.
func StepsLine(t *arena.Trace, j *arena.StepJudgement) []byte {
	h, a := parts(t, &j.Judgement)
	steps := slicesx.Map(j.Steps, func(v arena.StepVerdict) verdict { return verdict{v.Step, v.Need, orNull(v.Reason), orNull(v.Quote)} })
	return asjson.Plain(struct {
		head
		Steps []verdict `json:"steps"`
		asked
	}{h, steps, a})
}

func orNull[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

func finite(x *float64) *float64 {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return nil
	}
	return x
}
