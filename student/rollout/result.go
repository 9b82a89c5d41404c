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

// Result is the result of a rollout: a line of results.jsonl and a row of results.parquet.
type Result struct {
	ProblemID string  `json:"problem_id" parquet:"problem_id"`
	Sample    int     `json:"sample" parquet:"sample"`
	Outcome   Outcome `json:"outcome" parquet:"outcome"`
	// Success is null if the rollout was not scored.
	Success *bool `json:"success" parquet:"success,optional"`
	Turns   int   `json:"turns" parquet:"turns"`
	Stop    Stop  `json:"stop" parquet:"stop"`
	// Label is the reason of a failure. It is empty for a success and null for an infrastructure
	// error.
	Label *Label `json:"label" parquet:"label,optional"`
	// Infra is the reason code of an infrastructure error.
	Infra *string `json:"infra" parquet:"infra,optional"`
	// InfraWords is the server's message, shortened and without secrets.
	InfraWords string `json:"infra_words,omitempty" parquet:"-"`
	// UnparsedForm is the form of the first call in a reply that neither the server nor the
	// dialect parsed. It is empty if there is none.
	UnparsedForm string   `json:"unparsed_form,omitempty" parquet:"-"`
	Recommended  []string `json:"recommended" parquet:"recommended,list"`
	evaluation.Counts
	// Score is a JSON object with the keys of a score line. SetScore sets it.
	Score  json.RawMessage   `json:"score" parquet:"-"`
	Tokens evaluation.Tokens `json:"tokens" parquet:"-"`
	// Cached is the number of prompt tokens that were in the server's cache. It depends on
	// earlier requests, so only the journal and the cost report contain it.
	Cached   int64          `json:"cached_prompt_tokens,omitempty" parquet:"-"`
	Category arena.Category `json:"category" parquet:"category"`
	// Titles is the source of the title vectors.
	Titles arena.TitleSource `json:"titles,omitempty" parquet:"-"`
	// Quality is the score of the reasoning judge, null if there is none.
	Quality *float64 `json:"quality" parquet:"quality,optional"`
	// Reward is the reward that another harness gave; nil for a rollout of this program.
	Reward *float64 `json:"reward,omitempty" parquet:"-"`

	// Line is the trace in the sandbox's format. Trace is the parsed form of Line, set by
	// ReadTrace.
	Line  []byte       `json:"-" parquet:"-"`
	Trace *arena.Trace `json:"-" parquet:"-"`
	// Axes are the numbers in Score. SetScore sets them.
	Axes map[string]float64 `json:"-" parquet:"-"`
}

// ReadTrace sets Trace from Line. The trace gets the run id runID.
func (r *Result) ReadTrace(runID string) error {
	t, err := traces.Decode(r.Line, noLimits)
	if err != nil {
		return fmt.Errorf("read the trace of a rollout at %s: %w", r.ProblemID, err)
	}
	t.RunID, t.ID = runID, runID+"/"+t.ProblemID
	r.Trace = t
	return nil
}

// noLimits are limits that allow any size, for reading traces that Play has written. The replies in
// these were already limited when they were received.
var noLimits = traces.Limits{
	Depth:       math.MaxInt,
	StringBytes: math.MaxInt,
	Elements:    math.MaxInt,
}

// SetScore sets Score and Axes from a score line. The line may be null.
func (r *Result) SetScore(line json.RawMessage) {
	r.Score = line
	r.Axes = map[string]float64{}
	for axis, v := range gjson.ParseBytes(line).ForEach {
		if v.Type == gjson.Number {
			r.Axes[axis.Str] = v.Num
		}
	}
}

// Gain returns what a scored rollout adds to the success rate: the reward that another harness gave, or
// else 1 for a success. It returns 0 for a rollout that was not scored.
func (r *Result) Gain() float64 {
	switch {
	case r.Success == nil:
		return 0
	case r.Reward != nil:
		return *r.Reward
	case *r.Success:
		return 1
	}
	return 0
}

// Outcome is scored or infra.
type Outcome string

// The outcomes of a rollout.
const (
	Scored Outcome = "scored"
	Infra  Outcome = "infra"
)

// Stop is the reason why a rollout ended.
type Stop string

// The reasons why a rollout ends.
const (
	StopTerminated Stop = "terminated"
	StopMaxSteps   Stop = "max_steps"
	StopNoToolCall Stop = "no_tool_call"
	StopMalformed  Stop = "malformed"
	StopTruncated  Stop = "truncated"
	StopOverflow   Stop = "context_overflow"
	StopInfra      Stop = "infra"
)

// Label is the reason why a rollout failed: the first of the labels below that applies.
type Label string

// The labels in order of precedence. Hallucinated and WrongProduct apply only to rollouts with a
// recommendation. The labels from Overflow to NoToolCall describe the last reply.
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

// replyLabel returns the label that names the failure of a rollout if this reply is its last.
// readable reports whether at least one of its calls could be read. The label is "" if the reply
// was not truncated and has a readable call, so that it is not the cause.
func replyLabel(r model.Reply, t dialect.Turn, readable bool) Label {
	switch {
	case r.Finish == "length":
		return LabelTruncated
	case readable:
		return ""
	case strings.Contains(strings.ToLower(r.Finish), "malformed"): // of Gemini
		return LabelMalformedCall
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

// failureLabel returns the label that names the probable cause, for the case that the rollout
// failed. It is computed before the rollout is scored; for a success, the scorer replaces it.
func (p *play) failureLabel() Label {
	switch {
	case len(p.result.Recommended) > 0 && p.result.HallucinatedIDs > 0:
		return LabelHallucinated
	case len(p.result.Recommended) > 0:
		return LabelWrongProduct
	case p.lastLabel != "":
		return p.lastLabel
	case p.isLooping():
		return LabelLoop
	default:
		return LabelNoRecommendation
	}
}

// isLooping reports whether the last three calls are equal, including their arguments.
func (p *play) isLooping() bool {
	const run = 3
	n := len(p.callTexts)
	return n >= run && p.callTexts[n-1] == p.callTexts[n-2] && p.callTexts[n-2] == p.callTexts[n-3]
}
