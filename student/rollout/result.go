package rollout

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/model"
	plaintext "github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/student/dialect"
	"github.com/trajectory-arena/arena/traces"
)

// Result is one line of a run's results, keys in this order, and a row of its table.
type Result struct {
	ProblemID string  `json:"problem_id" parquet:"problem_id"`
	Sample    int     `json:"sample" parquet:"sample"`
	Outcome   Outcome `json:"outcome" parquet:"outcome"`
	// Success is null where the rollout was not scored.
	Success *bool `json:"success" parquet:"success,optional"`
	Turns   int   `json:"turns" parquet:"turns"`
	Stop    Stop  `json:"stop" parquet:"stop"`
	// Label is why there is no success; empty for success, null for infra.
	Label *Label `json:"label" parquet:"label,optional"`
	// Infra is what went wrong with the instrument.
	Infra *string `json:"infra" parquet:"infra,optional"`
	// InfraWords are the server's own, clipped and without secrets.
	InfraWords  string   `json:"infra_words,omitempty" parquet:"-"`
	Recommended []string `json:"recommended" parquet:"recommended,list"`
	evaluation.Counts
	// Score has the keys of a score line; SetScore sets it.
	Score  json.RawMessage   `json:"score" parquet:"-"`
	Tokens evaluation.Tokens `json:"tokens" parquet:"-"`
	// Cached are the prompt's tokens that the server had in its cache: they depend
	// on all that it was asked before, and are in the journal and the bill alone.
	Cached   int64          `json:"cached_prompt_tokens,omitempty" parquet:"-"`
	Category arena.Category `json:"category" parquet:"category"`
	// Titles is where the vectors came from that titles were compared by.
	Titles arena.TitleSource `json:"titles,omitempty" parquet:"-"`
	// Quality is the reasoning judge's score, null where there is none.
	Quality *float64 `json:"quality" parquet:"quality,optional"`

	// Line is the rollout as the sandbox's envelope, Trace what ReadTrace reads in
	// it.
	Line  []byte       `json:"-" parquet:"-"`
	Trace *arena.Trace `json:"-" parquet:"-"`
	// Axes is what SetScore reads in Score.
	Axes map[string]float64 `json:"-" parquet:"-"`
}

// ReadTrace sets Trace from Line, as an attempt of that run.
func (r *Result) ReadTrace(runID string) error {
	t, err := traces.Decode(r.Line, noLimits)
	if err != nil {
		return fmt.Errorf("read the trace of a rollout at %s: %w", r.ProblemID, err)
	}
	t.RunID, t.ID = runID, runID+"/"+t.ProblemID
	r.Trace = t
	return nil
}

// noLimits are those of a trace that Play wrote: it is as large as its replies,
// which were bounded when they came.
var noLimits = traces.Limits{Depth: math.MaxInt, StringBytes: math.MaxInt, Elements: math.MaxInt}

// SetScore gives the result its score line, or null.
func (r *Result) SetScore(line json.RawMessage) {
	r.Score, r.Axes = line, map[string]float64{}
	for axis, v := range gjson.ParseBytes(line).ForEach {
		if v.Type == gjson.Number {
			r.Axes[axis.Str] = v.Num
		}
	}
}

// Outcome says whether a rollout counts.
type Outcome string

// The outcomes of a rollout.
const (
	Scored Outcome = "scored"
	Infra  Outcome = "infra"
)

// Stop is what ended a rollout.
type Stop string

// The ends of a rollout.
const (
	StopTerminated Stop = "terminated"
	StopMaxSteps   Stop = "max_steps"
	StopNoToolCall Stop = "no_tool_call"
	StopMalformed  Stop = "malformed"
	StopTruncated  Stop = "truncated"
	StopOverflow   Stop = "context_overflow"
	StopInfra      Stop = "infra"
)

// Label is why a rollout is no success: the first of these that holds.
type Label string

// The labels, in their order. Up to WrongProduct they need a recommendation;
// the next tell of the last reply.
const (
	LabelSuccess          Label = ""
	LabelHallucinated     Label = "hallucinated_id"
	LabelWrongProduct     Label = "wrong_product"
	LabelOverflow         Label = "context_overflow"
	LabelTruncated        Label = "truncated"
	LabelEmptyReply       Label = "empty_reply"
	LabelRefusal          Label = "refusal"
	LabelThinkOnly        Label = "think_only"
	LabelReasoningOnly    Label = "reasoning_only"
	LabelMalformedCall    Label = "malformed_call"
	LabelNoToolCall       Label = "no_tool_call"
	LabelLoop             Label = "loop"
	LabelNoRecommendation Label = "no_recommendation"
)

// lastReply is the label that a reply gives a rollout that ends with it; empty
// where the reply holds a readable call and was not cut off.
func lastReply(r model.Reply, t dialect.Turn, readable bool) Label {
	switch {
	case r.Finish == "length":
		return LabelTruncated
	case readable:
		return ""
	case r.Refusal != "" || r.Finish == "content_filter" || plaintext.Refuses(t.Text):
		return LabelRefusal
	case len(t.Calls) > 0:
		return LabelMalformedCall
	case t.Text == "" && t.Think == "":
		return LabelEmptyReply
	case t.Text == "" && strings.TrimSpace(r.Content) == "":
		return LabelReasoningOnly
	case t.Text == "":
		return LabelThinkOnly
	default:
		return LabelNoToolCall
	}
}

// label is the label of a failure. Success is known only to the scorer, which
// sets it.
func (p *play) label() Label {
	switch {
	case len(p.result.Recommended) > 0 && p.result.HallucinatedIDs > 0:
		return LabelHallucinated
	case len(p.result.Recommended) > 0:
		return LabelWrongProduct
	case p.last != "":
		return p.last
	case p.loops():
		return LabelLoop
	default:
		return LabelNoRecommendation
	}
}

func (p *play) loops() bool {
	const run = 3
	n := len(p.made)
	return n >= run && p.made[n-1] == p.made[n-2] && p.made[n-2] == p.made[n-3]
}
