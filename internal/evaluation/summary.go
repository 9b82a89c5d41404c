// Package evaluation defines the results of an evaluation that other packages read: the summary
// (summary.json), the cost, and the table of tokens.
package evaluation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// Summary is the result of a run. It contains no times, cost or telemetry, so that a resumed run
// has the same summary, byte for byte.
type Summary struct {
	Part
	// Pass maps names such as "pass@4" and "pass^4" to pass rates. It is empty if nothing was
	// scored.
	Pass map[string]PassRate `json:"-"`

	ByCategory map[string]*Part `json:"by_category"`
	// ByContamination has the parts "clean" and "contaminated". It is nil if it is unknown on
	// which problems the model was trained.
	ByContamination map[string]*Part `json:"by_contamination,omitempty"`
	Stops           map[string]int   `json:"stops"`
	Labels          map[string]int   `json:"labels"`
	// Infra counts the rollouts that failed because of an infrastructure error, by reason.
	Infra map[string]int `json:"infra"`
	// InfraWords has the message of the first rollout for each reason in Infra.
	InfraWords map[string]string `json:"infra_words,omitempty"`

	// Unparsed counts, by form, the calls in replies that neither the server nor the dialect
	// parsed.
	Unparsed map[string]Unparsed `json:"unparsed_calls,omitempty"`
	// NoRate is the reason why the summary has no rate although rollouts were scored. It is
	// empty if there is a rate.
	NoRate string `json:"no_rate,omitempty"`

	Counts
	Turns int `json:"turns"`
	// UnseenPerTurn is UnseenIDs divided by Turns.
	UnseenPerTurn   *float64    `json:"unseen_ids_per_turn"`
	UnseenPerTurn95 *[2]float64 `json:"unseen_ids_per_turn95"`
	// Titles counts scored rollouts by the source of the title vectors: those in the problem, an
	// endpoint, or none.
	Titles map[string]int `json:"titles"`
	// Partial counts the scored rollouts without success that fulfil a part of the request:
	// their score on the axis "rule" is above 0.
	Partial int `json:"partial_successes"`
	// Axes has the mean of each axis over the scored rollouts that have the axis. Most axes need
	// a recommended product that is in the catalogue.
	Axes map[string]float64 `json:"axes"`
	// AxisRollouts has the number of rollouts for each mean in Axes.
	AxisRollouts map[string]int `json:"axis_rollouts"`
	// Axes95 has the intervals by problem of the axes that have at least two problems.
	Axes95 map[string][2]float64 `json:"axes95_by_problem"`
	// Quality is the mean score of the reasoning judge. Quality95 is its interval by problem.
	// Both are null without a judge.
	Quality   *float64    `json:"quality"`
	Quality95 *[2]float64 `json:"quality95_by_problem"`
	// Judged counts the scored rollouts that the judge answered. Means of the judge's scores
	// include no others.
	Judged int `json:"judged"`
	// Final is the success rate times the multiplier of Quality. It is null without a judge.
	Final *float64 `json:"final"`
	// SolvedProblems counts the problems that at least one sample solved. Flaky counts those
	// that another sample did not solve.
	SolvedProblems int    `json:"solved_problems"`
	Flaky          int    `json:"flaky_problems"`
	Tokens         Tokens `json:"tokens"`
	// Cached is the part of Tokens.Prompt that the servers took from their caches.
	Cached int64 `json:"-"`
}

// Unparsed is the number of rollouts with a call in a form that was not parsed. ParsedBy
// describes what must be done to parse it.
type Unparsed struct {
	Rollouts int    `json:"rollouts"`
	ParsedBy string `json:"parsed_by"`
}

// UnparsedRollouts returns the number of rollouts with a call that was not parsed.
func (s *Summary) UnparsedRollouts() (n int) {
	for _, u := range s.Unparsed {
		n += u.Rollouts
	}
	return n
}

// Counts are numbers of actions of a student, in one rollout or in all rollouts of a run.
type Counts struct {
	// HallucinatedIDs counts the recommended ids that are not in the catalogue.
	HallucinatedIDs int `json:"hallucinated_ids" parquet:"hallucinated_ids"`
	// UnseenIDs counts the ids in calls that no tool had returned.
	UnseenIDs int `json:"unseen_ids" parquet:"unseen_ids"`
	// ToolCalls counts the executed calls. ToolErrors counts those that the environment answered
	// with an error. RepeatedCalls counts those that are equal to an earlier call.
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

// PassRate is the mean of pass@k or pass^k over problems. SE and CI95 are null if there is a
// single problem.
type PassRate struct {
	Mean     float64     `json:"mean"`
	Problems int         `json:"problems"`
	SE       *float64    `json:"se_clustered"`
	CI95     *[2]float64 `json:"ci95"`
}

// Part is the result for all problems or for a subset of them. Rates are null if nothing was
// scored, intervals if there are fewer than two problems.
type Part struct {
	Problems int `json:"problems"`
	// Groups is the number of groups of problems, if it is smaller than the number of problems.
	// All intervals are then by group.
	Groups int `json:"groups,omitempty"`
	// Samples is the number of rollouts of all problems: Scored + InfraErrors.
	Samples     int `json:"samples"`
	Scored      int `json:"scored"`
	InfraErrors int `json:"infra_errors"`
	// Coverage is Scored divided by Samples.
	Coverage  float64 `json:"coverage"`
	Successes int     `json:"successes"`
	// ASRAll is the success rate over all samples, infrastructure errors included.
	ASRAll *float64 `json:"asr_all"`
	// ASRScored is the success rate over the scored samples.
	ASRScored *float64 `json:"asr_scored"`
	// SEClustered is the standard error of ASRAll.
	SEClustered *float64 `json:"se_clustered_by_problem"`
	// SEScored is the standard error of ASRScored. Clustered95 is the interval of ASRScored.
	SEScored    *float64    `json:"se_scored_by_problem"`
	Clustered95 *[2]float64 `json:"wilson95_by_problem"`
	// Between is the variance of success between problems. Within is the variance between
	// samples of one problem. Both are omitted if no problem has a second sample.
	Between *float64 `json:"variance_between_problems,omitempty"`
	Within  *float64 `json:"variance_within_problems,omitempty"`
}

// Tokens are token counts as reported by the server, null if it reports none.
type Tokens struct {
	Prompt     *int64 `json:"prompt"`
	Completion *int64 `json:"completion"`
	// Uncounted is the number of replies for which the server reported no count. Their tokens
	// are not part of Prompt and Completion.
	Uncounted int `json:"uncounted,omitempty"`
}

// Add adds the tokens of another rollout or reply.
func (t *Tokens) Add(o Tokens) {
	t.Uncounted += o.Uncounted
	addCount(&t.Prompt, o.Prompt)
	addCount(&t.Completion, o.Completion)
}

// addCount adds n to *sum. An unknown count is nil and adds nothing. The sum of no known counts is
// nil.
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

// ContaminationPart returns the key in ByContamination for a problem that is contaminated or
// not.
func ContaminationPart(contaminated bool) string {
	if contaminated {
		return "contaminated"
	}
	return "clean"
}
