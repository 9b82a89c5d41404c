// Package evaluation defines the results of an evaluation that other packages read: the
// summary (summary.json), its cost, and the table of tokens.
package evaluation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// Summary is the result of a run. It holds no times, no cost and no telemetry, so that
// a resumed run has the same summary, byte for byte.
type Summary struct {
	Part
	// Pass holds the pass rates by name, such as "pass@4" and "pass^4". It is empty if
	// nothing was scored.
	Pass map[string]PassRate `json:"-"`

	ByCategory map[string]*Part `json:"by_category"`
	// ByContamination has the parts "clean" and "contaminated". It is nil if the run
	// does not know which problems the model was trained on.
	ByContamination map[string]*Part `json:"by_contamination,omitempty"`
	Stops           map[string]int   `json:"stops"`
	Labels          map[string]int   `json:"labels"`
	// Infra counts the rollouts that failed for an infrastructure error, by reason.
	Infra map[string]int `json:"infra"`
	// InfraWords holds the message of the first rollout of each reason of Infra.
	InfraWords map[string]string `json:"infra_words,omitempty"`

	// Unparsed describes, by form, the calls in replies that neither the server nor the dialect has
	// read.
	Unparsed map[string]Unparsed `json:"unparsed_calls,omitempty"`
	// NoRate is the reason why the summary has no rate although rollouts were scored; empty if it has
	// one.
	NoRate string `json:"no_rate,omitempty"`

	Counts
	Turns int `json:"turns"`
	// UnseenPerTurn is UnseenIDs / Turns.
	UnseenPerTurn   *float64    `json:"unseen_ids_per_turn"`
	UnseenPerTurn95 *[2]float64 `json:"unseen_ids_per_turn95"`
	// Titles counts scored rollouts by the source of the title vectors: those in the
	// problem, an endpoint, none.
	Titles map[string]int `json:"titles"`
	// Partial counts the scored rollouts without success that meet a part of the
	// request: their score on the axis "rule" is above 0.
	Partial int `json:"partial_successes"`
	// Axes holds the mean of each axis over the scored rollouts that have it. Most axes
	// need a recommended product that is in the catalogue.
	Axes map[string]float64 `json:"axes"`
	// AxisRollouts counts the rollouts of each mean of Axes.
	AxisRollouts map[string]int `json:"axis_rollouts"`
	// Axes95 holds the intervals by problem, of axes with two or more problems.
	Axes95 map[string][2]float64 `json:"axes95_by_problem"`
	// Quality is the mean score of the reasoning judge, Quality95 its interval by
	// problem; both are null without a judge.
	Quality   *float64    `json:"quality"`
	Quality95 *[2]float64 `json:"quality95_by_problem"`
	// Judged counts the scored rollouts with an answer of the judge. No mean includes
	// the others.
	Judged int `json:"judged"`
	// Final is the success rate times the multiplier of Quality; null without a judge.
	Final *float64 `json:"final"`
	// SolvedProblems counts the problems that at least one sample solved. Flaky counts
	// those of them that another sample did not solve.
	SolvedProblems int    `json:"solved_problems"`
	Flaky          int    `json:"flaky_problems"`
	Tokens         Tokens `json:"tokens"`
	// Cached is the part of Tokens.Prompt that the servers had in their caches.
	Cached int64 `json:"-"`
}

// Unparsed counts the rollouts that hold a call in a form that nobody parsed. ParsedBy is what has
// to be done so that it is.
type Unparsed struct {
	Rollouts int    `json:"rollouts"`
	ParsedBy string `json:"parsed_by"`
}

// UnparsedRollouts returns the number of rollouts that hold a call that nobody parsed.
func (s *Summary) UnparsedRollouts() (n int) {
	for _, u := range s.Unparsed {
		n += u.Rollouts
	}
	return n
}

// Counts counts the actions of a student, in one rollout or in all of a run.
type Counts struct {
	// HallucinatedIDs counts recommended ids that are not in the catalogue.
	HallucinatedIDs int `json:"hallucinated_ids" parquet:"hallucinated_ids"`
	// UnseenIDs counts ids in calls that no tool ever returned.
	UnseenIDs int `json:"unseen_ids" parquet:"unseen_ids"`
	// ToolCalls counts the calls that were run, ToolErrors those of them that the
	// environment answered with an error, RepeatedCalls those equal to an earlier call.
	ToolCalls     int `json:"tool_calls" parquet:"tool_calls"`
	ToolErrors    int `json:"tool_errors" parquet:"tool_errors"`
	RepeatedCalls int `json:"repeated_calls" parquet:"repeated_calls"`
	// MalformedCalls counts the calls that could not be parsed.
	MalformedCalls int `json:"malformed_calls" parquet:"malformed_calls"`
}

// Add adds the counts of another rollout.
func (c *Counts) Add(o Counts) {
	c.HallucinatedIDs += o.HallucinatedIDs
	c.UnseenIDs += o.UnseenIDs
	c.ToolCalls += o.ToolCalls
	c.ToolErrors += o.ToolErrors
	c.RepeatedCalls += o.RepeatedCalls
	c.MalformedCalls += o.MalformedCalls
}

// PassRate is the mean of pass@k or pass^k over problems. SE and CI95 are null for a
// single problem.
type PassRate struct {
	Mean     float64     `json:"mean"`
	Problems int         `json:"problems"`
	SE       *float64    `json:"se_clustered"`
	CI95     *[2]float64 `json:"ci95"`
}

// Part holds the results of all problems or of a subset. Rates are null if nothing was
// scored, intervals for fewer than two problems.
type Part struct {
	Problems int `json:"problems"`
	// Groups counts the groups of problems, if there are fewer of them: all intervals are by group.
	Groups int `json:"groups,omitempty"`
	// Samples counts rollouts of all problems: Scored + InfraErrors.
	Samples     int `json:"samples"`
	Scored      int `json:"scored"`
	InfraErrors int `json:"infra_errors"`
	// Coverage is Scored / Samples.
	Coverage  float64 `json:"coverage"`
	Successes int     `json:"successes"`
	// ASRAll is the success rate over all samples, infrastructure errors included.
	ASRAll *float64 `json:"asr_all"`
	// ASRScored is the success rate over the scored samples.
	ASRScored *float64 `json:"asr_scored"`
	// SEClustered is the standard error of ASRAll.
	SEClustered *float64 `json:"se_clustered_by_problem"`
	// SEScored is the standard error of ASRScored, Clustered95 its interval.
	SEScored    *float64    `json:"se_scored_by_problem"`
	Clustered95 *[2]float64 `json:"wilson95_by_problem"`
	// Between is the variance of success between problems, Within that between samples of one
	// problem; both are left out without a second sample.
	Between *float64 `json:"variance_between_problems,omitempty"`
	Within  *float64 `json:"variance_within_problems,omitempty"`
}

// Tokens holds token counts as reported by the server; null if it reports none.
type Tokens struct {
	Prompt     *int64 `json:"prompt"`
	Completion *int64 `json:"completion"`
	// Uncounted is the number of replies without a reported count. Their tokens are
	// missing from Prompt and Completion.
	Uncounted int `json:"uncounted,omitempty"`
}

// Add adds the tokens of another rollout or reply.
func (t *Tokens) Add(o Tokens) {
	t.Uncounted += o.Uncounted
	addCount(&t.Prompt, o.Prompt)
	addCount(&t.Completion, o.Completion)
}

// addCount adds n to sum. An unknown count, which is nil, is ignored; a sum of only unknown counts
// remains nil.
func addCount(sum **int64, n *int64) {
	if n == nil {
		return
	}
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += *n
}

// MarshalJSON encodes s with the pass rates as the last keys of the object.
func (s *Summary) MarshalJSON() ([]byte, error) {
	type plain Summary
	b, err := json.Marshal((*plain)(s))
	if err != nil {
		return nil, fmt.Errorf("encode summary: %w", err)
	}
	if len(s.Pass) == 0 {
		return b, nil
	}
	return slices.Concat(
		b[:len(b)-1],
		[]byte{','},
		asjson.Bytes(s.Pass)[1:],
	), nil
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (s *Summary) UnmarshalJSON(b []byte) error {
	type plain Summary
	if err := json.Unmarshal(b, (*plain)(s)); err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	s.Pass = map[string]PassRate{}
	for name, raw := range fields {
		var rate PassRate
		if strings.HasPrefix(name, "pass") && json.Unmarshal(raw, &rate) == nil {
			s.Pass[name] = rate
		}
	}
	return nil
}

// ContaminationPart returns the key of a problem in ByContamination.
func ContaminationPart(contaminated bool) string {
	if contaminated {
		return "contaminated"
	}
	return "clean"
}
