// Package judgements encodes judgements as lines of JSON, one line per attempt. A judgement is
// of the attempt or of its steps.
package judgements

import (
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// head has the fields with which every line of a file of judgements begins: run, problem, judge and
// outcome.
type head struct {
	RunID     string             `json:"eval_run_id"`
	ProblemID string             `json:"problem_id"`
	Judge     string             `json:"judge"`
	Outcome   arena.JudgeOutcome `json:"outcome"`
}

// request has the fields of a judgement's line that describe how a model was asked, and at what
// cost.
type request struct {
	Model        *string `json:"model"`
	PromptSHA256 *string `json:"prompt_sha256"`
	Tokens       tokens  `json:"tokens"`
	// CostUSD is in US dollars.
	CostUSD *float64 `json:"cost_usd"`
	Cached  bool     `json:"cached"`
	// Detail is what the first failed gate missed, or the reason why there is no answer.
	Detail *string `json:"detail"`
}

// tokens are the numbers of tokens of the request and of its reply.
type tokens struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
}

func newHead(t *arena.Trace, j *arena.Judgement) head {
	return head{t.RunID, t.ProblemID, j.Judge, j.Outcome}
}

func newRequest(j *arena.Judgement) request {
	return request{
		Model:        orNull(j.Model),
		PromptSHA256: orNull(j.PromptSHA256),
		Tokens:       tokens{j.PromptTokens, j.CompletionTokens},
		CostUSD:      finiteOrNull(j.CostUSD),
		Cached:       j.Cached,
		Detail:       orNull(j.Detail),
	}
}

// span is, as JSON, a quotation that a judge gives as evidence for a gate (one test on the way to a
// higher grade).
type span struct {
	Gate  int    `json:"gate"`
	Step  *int   `json:"step"`
	Quote string `json:"quote"`
}

// line is a judgement of an attempt as JSON.
type line struct {
	head
	Score *float64 `json:"score"`
	// Expected is left out where the server gave no probabilities.
	Expected *float64 `json:"expected,omitempty"`
	// Votes and AgentModels, the models that the agent called, are left out unless a panel voted.
	Votes       []arena.Vote `json:"votes,omitempty"`
	AgentModels []string     `json:"agent_models,omitempty"`
	Gates       []bool       `json:"gates"`
	Spans       []span       `json:"spans"`
	// Doubt is the fault of the quotes for which an answer is no grade; null if there is none.
	Doubt *arena.JudgeDoubt `json:"doubt"`
	request
}

// Line returns the JSON line for one attempt's judgement, without a line break.
func Line(t *arena.Trace, j arena.Judgement) []byte {
	spans := make([]span, len(j.Spans))
	for i, s := range j.Spans {
		spans[i] = span{s.Gate, orNull(max(s.Step, 0)), s.Quote}
	}
	var agentModels []string
	if j.Votes != nil {
		agentModels = modelsOf(t)
	}
	return asjson.Plain(line{
		head:        newHead(t, &j),
		Score:       finiteOrNull(j.Score),
		Expected:    finiteOrNull(j.Expected),
		Votes:       j.Votes,
		AgentModels: agentModels,
		Gates:       j.Gates,
		Spans:       spans,
		Doubt:       orNull(j.Doubt),
		request:     newRequest(&j),
	})
}

// modelsOf returns the sorted names of the models that an agent called: the one that the source
// names, else those in the requests of the proxy's log.
func modelsOf(t *arena.Trace) []string {
	if t.Model != "" {
		return []string{t.Model}
	}
	var models []string
	for _, s := range t.Steps {
		for _, c := range s.Proxy {
			isCompletion := !c.Attempt && strings.HasSuffix(c.Path, "completions")
			if name := gjson.Get(string(c.Body), "model").Str; isCompletion && name != "" {
				models = slicesx.AppendUnique(models, name)
			}
		}
	}
	slices.Sort(models)
	return models
}

// verdict is the judgement of one step as JSON.
type verdict struct {
	Step    int        `json:"step"`
	Verdict arena.Need `json:"verdict"`
	Reason  *string    `json:"reason"`
	Quote   *string    `json:"quote"`
}

// stepsLine is a judgement of the steps of an attempt as JSON.
type stepsLine struct {
	head
	Steps []verdict `json:"steps"`
	request
}

// StepsLine returns the JSON line for one attempt's judgement of its steps, without a line
// break. The value of steps is null if there are no verdicts.
func StepsLine(t *arena.Trace, j *arena.StepJudgement) []byte {
	steps := slicesx.Map(j.Steps, func(v arena.StepVerdict) verdict {
		return verdict{v.Step, v.Need, orNull(v.Reason), orNull(v.Quote)}
	})
	return asjson.Plain(stepsLine{newHead(t, &j.Judgement), steps, newRequest(&j.Judgement)})
}

// orNull returns a pointer to v, or nil if v is the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// finiteOrNull returns x, or nil if it is not a finite number.
func finiteOrNull(x *float64) *float64 {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return nil
	}
	return x
}
