package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// truth holds what the build finds of attempts against what their runs carry of the
// subnet's own.
type truth struct {
	agreement.Carried
	// paid and graded are the build's, of the attempts of these runs.
	paid, graded map[agreement.Key]*float64
}

// Carries tells what a run carries, and what of each of its attempts by problem.
func (a *Adder) Carries(run, agent string, f arena.Findings, attempts map[string]arena.Findings) {
	if a.truth.Add(run, agent, f, attempts); a.truth.paid == nil {
		a.truth.paid, a.truth.graded = map[agreement.Key]*float64{}, map[agreement.Key]*float64{}
	}
}

func (t *truth) add(x *block.Entry) {
	if t.Knows(x.Attempt.RunID) {
		key := agreement.Key{Run: x.Attempt.RunID, Problem: cmp.Or(x.Attempt.ProblemID, x.Attempt.TraceID)}
		t.paid[key], t.graded[key] = paid(x), x.Score
	}
}

// paid is what the verifier paid, or 1 for a success; nil where the attempt was none.
func paid(x *block.Entry) *float64 {
	if r := x.Outcome.Ruling; r != nil {
		return r.Score
	}
	return new(float64(ones(x.Outcome.Success)))
}

func (t *truth) held() (all []agreement.Validator) {
	slices.SortStableFunc(t.All, func(a, b agreement.Theirs) int { return cmp.Compare(a.Run, b.Run) }) // a sum of floats depends on its order
	for _, figure := range agreement.Figures {
		ours := agreement.Ratings{Name: "judge", Scores: t.graded}
		switch figure {
		case agreement.FigureScore, agreement.FigureAttemptScore:
			ours = agreement.Ratings{Name: "outcome", Scores: t.paid}
		}
		all = append(all, agreement.AgainstValidator(figure, t.All, &ours, agreement.DefaultOptions())...)
	}
	return all
}

func subnetText(all []agreement.Validator) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nHow far the build agrees with what the day's runs carry of the subnet's own figures (ours less theirs; 95 % intervals draw agents; coverage is the share of the runs or attempts carrying a figure that the build graded). Run by run: what was paid or solved times the run's coefficient (validator_score), the mean grade (reasoning_quality), and what the subnet's rule makes of it (reasoning_coefficient). Attempt by attempt, by category: solved by our rules (score), our grade (reasoning_score), and what the subnet's rule makes of either grade (multiplier).\n\n| figure | category | ours | runs | attempts | agents | coverage | bias | distance | correlation |\n|---|---|---|---:|---:|---:|---:|---|---|---|\n")
	for _, v := range all {
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %.3f | %s | %s | %s |\n", v.Figure, corpus.Cell(cmp.Or(v.Category, "all")), v.Judge, v.Runs, v.Attempts, v.Agents, v.Coverage, figure(v.Bias), figure(v.Distance), figure(v.Correlation))
	}
	return b.String()
}
