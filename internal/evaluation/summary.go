// Package evaluation holds what an evaluation says of its model, as summary.json
// has it: the student writes it and the report reads it.
package evaluation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// Summary is what a run says of its model. It holds no clock, no cost and no
// telemetry: a run resumed is the same, byte for byte.
type Summary struct {
	Part
	// Pass are the rates of passing by their names, as "pass@4" and "pass^4"; none
	// where nothing was scored.
	Pass map[string]PassRate `json:"-"`

	ByCategory map[string]*Part `json:"by_category"`
	// ByContamination has the parts "clean" and "contaminated", where the run
	// was told which problems the model was trained on.
	ByContamination map[string]*Part `json:"by_contamination,omitempty"`
	Stops           map[string]int   `json:"stops"`
	Labels          map[string]int   `json:"labels"`
	Infra           map[string]int   `json:"infra"`
	// InfraWords are those of the first rollout of each reason.
	InfraWords map[string]string `json:"infra_words,omitempty"`

	Counts
	Turns int `json:"turns"`
	// UnseenPerTurn is UnseenIDs / Turns.
	UnseenPerTurn   *float64    `json:"unseen_ids_per_turn"`
	UnseenPerTurn95 *[2]float64 `json:"unseen_ids_per_turn95"`
	// Titles counts scored rollouts by how titles were compared: vectors that the
	// problem carries, endpoint, none.
	Titles map[string]int `json:"titles"`
	// Partial counts the scored rollouts that are no success and yet meet a part of
	// what was asked for: a score on the axis rule above 0.
	Partial int `json:"partial_successes"`
	// Axes are means over the scored rollouts that have the axis, AxisRollouts how
	// many that are: most axes need a recommended product that the catalogue knows.
	// Axes95 are the intervals by problem, where there are two problems or more.
	Axes         map[string]float64    `json:"axes"`
	AxisRollouts map[string]int        `json:"axis_rollouts"`
	Axes95       map[string][2]float64 `json:"axes95_by_problem"`
	// Quality is the mean of the reasoning judge with its interval by problem, Final
	// the success rate times its multiplier; null without a judge.
	Quality   *float64    `json:"quality"`
	Quality95 *[2]float64 `json:"quality95_by_problem"`
	// Judged counts the scored rollouts that the judge gave an answer on; those
	// without one are in no mean.
	Judged int      `json:"judged"`
	Final  *float64 `json:"final"`
	// SolvedProblems counts problems that a sample solves, Flaky those of them
	// that others do not.
	SolvedProblems int    `json:"solved_problems"`
	Flaky          int    `json:"flaky_problems"`
	Tokens         Tokens `json:"tokens"`
	// Cached are the tokens of Tokens.Prompt that servers had in their caches.
	Cached int64 `json:"-"`
}

// Counts are of what a student did, in a rollout or in all of them.
type Counts struct {
	// HallucinatedIDs are recommended ids that the catalogue does not know,
	// UnseenIDs those named in any call that no tool ever returned.
	HallucinatedIDs int `json:"hallucinated_ids" parquet:"hallucinated_ids"`
	UnseenIDs       int `json:"unseen_ids" parquet:"unseen_ids"`
	// ToolCalls were run, ToolErrors those that the environment answered with an
	// error, RepeatedCalls equal an earlier one, MalformedCalls could not be read.
	ToolCalls      int `json:"tool_calls" parquet:"tool_calls"`
	ToolErrors     int `json:"tool_errors" parquet:"tool_errors"`
	RepeatedCalls  int `json:"repeated_calls" parquet:"repeated_calls"`
	MalformedCalls int `json:"malformed_calls" parquet:"malformed_calls"`
}

// Add adds what another rollout did.
func (c *Counts) Add(o Counts) {
	c.HallucinatedIDs += o.HallucinatedIDs
	c.UnseenIDs += o.UnseenIDs
	c.ToolCalls += o.ToolCalls
	c.ToolErrors += o.ToolErrors
	c.RepeatedCalls += o.RepeatedCalls
	c.MalformedCalls += o.MalformedCalls
}

// PassRate is pass@k or pass^k: the mean over problems, how many, and how sure that
// is; null for one problem.
type PassRate struct {
	Mean     float64     `json:"mean"`
	Problems int         `json:"problems"`
	SE       *float64    `json:"se_clustered"`
	CI95     *[2]float64 `json:"ci95"`
}

// Part is a share of the problems, or all. Null is what nobody can know: rates where
// nothing was scored, intervals of fewer than two problems.
type Part struct {
	Problems int `json:"problems"`
	// Samples counts rollouts of all problems: Scored + InfraErrors.
	Samples     int `json:"samples"`
	Scored      int `json:"scored"`
	InfraErrors int `json:"infra_errors"`
	// Coverage is Scored / Samples.
	Coverage  float64 `json:"coverage"`
	Successes int     `json:"successes"`
	// ASRAll counts infra as not solved and has SEClustered; ASRScored leaves it out
	// and has SEScored and the interval Clustered95.
	ASRAll      *float64    `json:"asr_all"`
	ASRScored   *float64    `json:"asr_scored"`
	SEClustered *float64    `json:"se_clustered_by_problem"`
	SEScored    *float64    `json:"se_scored_by_problem"`
	Clustered95 *[2]float64 `json:"wilson95_by_problem"`
}

// Tokens are as the server counted them; null where it did not.
type Tokens struct {
	Prompt     *int64 `json:"prompt"`
	Completion *int64 `json:"completion"`
	// Uncounted are the replies that came without a count: the others' tokens
	// are a part of what was used.
	Uncounted int `json:"uncounted,omitempty"`
}

// Add adds the tokens of another rollout or reply.
func (t *Tokens) Add(o Tokens) {
	t.Uncounted += o.Uncounted
	plus(&t.Prompt, o.Prompt)
	plus(&t.Completion, o.Completion)
}

func plus(to **int64, n *int64) {
	if n == nil {
		return
	}
	if *to == nil {
		*to = new(int64)
	}
	**to += *n
}

// MarshalJSON writes the pass rates behind the standard errors.
func (s *Summary) MarshalJSON() ([]byte, error) {
	type plain Summary
	b, err := json.Marshal((*plain)(s))
	if err != nil {
		return nil, fmt.Errorf("encode summary: %w", err)
	}
	if len(s.Pass) == 0 {
		return b, nil
	}
	return slices.Concat(b[:len(b)-1], []byte{','}, asjson.Bytes(s.Pass)[1:]), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Summary) UnmarshalJSON(b []byte) error {
	type plain Summary
	if err := json.Unmarshal(b, (*plain)(s)); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	s.Pass = map[string]PassRate{}
	for name, raw := range all {
		var rate PassRate
		if strings.HasPrefix(name, "pass") && json.Unmarshal(raw, &rate) == nil {
			s.Pass[name] = rate
		}
	}
	return nil
}
