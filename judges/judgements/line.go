// Package judgements writes judgements as lines of JSON, one per attempt:
// of the whole, or of its steps.
package judgements

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/trajectory-arena/arena"
)

// head begins every line. What is missing is null.
type head struct {
	RunID     string             `json:"eval_run_id"`
	ProblemID string             `json:"problem_id"`
	Judge     string             `json:"judge"`
	Outcome   arena.JudgeOutcome `json:"outcome"`
}

// line is a judgement as a file holds it.
type line struct {
	head
	Score *float64 `json:"score"`
	Gates []bool   `json:"gates"`
	Spans []span   `json:"spans"`
	// Doubt is what is wrong with the spans, if anything is.
	Doubt *string `json:"doubt"`
	asked
}

// asked is what every judgement says of the asking.
type asked struct {
	Model        *string `json:"model"`
	PromptSHA256 *string `json:"prompt_sha256"`
	Tokens       struct {
		Prompt     int `json:"prompt"`
		Completion int `json:"completion"`
	} `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"`
	Cached  bool     `json:"cached"`
	// Detail is what the first gate that failed misses, or why there is no
	// answer.
	Detail *string `json:"detail"`
}

func newAsked(j *arena.Judgement) asked {
	a := asked{
		Model: named(j.Model), PromptSHA256: named(j.PromptSHA256),
		CostUSD: finite(j.CostUSD), Cached: j.Cached, Detail: named(j.Detail),
	}
	a.Tokens.Prompt, a.Tokens.Completion = j.PromptTokens, j.CompletionTokens
	return a
}

type span struct {
	Gate  int    `json:"gate"`
	Step  *int   `json:"step"`
	Quote string `json:"quote"`
}

// Append appends the line of one attempt's judgement, without its line end.
func Append(dst []byte, t *arena.Trace, j arena.Judgement) ([]byte, error) {
	l := line{
		head: head{t.RunID, t.ProblemID, j.Judge, j.Outcome}, Score: finite(j.Score),
		Gates: j.Gates, Spans: make([]span, 0, len(j.Spans)), Doubt: named(string(j.Doubt)), asked: newAsked(&j),
	}
	for _, s := range j.Spans {
		out := span{Gate: s.Gate, Quote: s.Quote}
		if s.Step > 0 {
			out.Step = &s.Step
		}
		l.Spans = append(l.Spans, out)
	}
	return encode(dst, l)
}

// stepsLine is a judgement of steps as a file holds it: where there are no
// verdicts, steps is null.
type stepsLine struct {
	head
	Steps []verdict `json:"steps"`
	asked
}

type verdict struct {
	Step    int        `json:"step"`
	Verdict arena.Need `json:"verdict"`
	Reason  *string    `json:"reason"`
	Quote   *string    `json:"quote"`
}

// AppendSteps appends the line of one attempt's judgement of steps, without its
// line end.
func AppendSteps(dst []byte, t *arena.Trace, j *arena.StepJudgement) ([]byte, error) {
	l := stepsLine{head: head{t.RunID, t.ProblemID, j.Judge, j.Outcome}, asked: newAsked(&j.Judgement)}
	for _, v := range j.Steps {
		l.Steps = append(l.Steps, verdict{v.Step, v.Need, named(v.Reason), named(v.Quote)})
	}
	return encode(dst, l)
}

func encode(dst []byte, line any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(line); err != nil {
		return dst, fmt.Errorf("encode judgement: %w", err)
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...), nil
}

func named(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func finite(x *float64) *float64 {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return nil
	}
	return x
}
