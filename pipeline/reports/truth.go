package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// truth holds what the build finds of attempts against what their runs carry of the
// subnet's own.
type truth struct {
	carried map[string]agreement.Carried
	agents  map[string]string
	// paid and graded are the build's, of the attempts of these runs.
	paid, graded map[agreement.Key]*float64
	// scores are the validator's of the attempts of each run by their problems, scored
	// those that the build has as well, by category.
	scores map[string]map[string]float64
	scored map[string][]agreement.Run
}

// Carries tells what a run carries, and what its validator gave each problem; the first
// word on a run counts.
func (a *Adder) Carries(run, agent string, c agreement.Carried, scores map[string]float64) {
	t := &a.truth
	if _, known := t.carried[run]; known || c == (agreement.Carried{}) && len(scores) == 0 {
		return
	}
	if t.carried == nil {
		*t = truth{
			carried: map[string]agreement.Carried{}, agents: map[string]string{}, paid: map[agreement.Key]*float64{}, graded: map[agreement.Key]*float64{},
			scores: map[string]map[string]float64{}, scored: map[string][]agreement.Run{},
		}
	}
	t.carried[run], t.agents[run], t.scores[run] = c, agent, scores
}

func (t *truth) add(x *block.Entry) {
	run := x.Attempt.RunID
	if _, has := t.carried[run]; !has {
		return
	}
	key := agreement.Key{Run: run, Problem: x.Attempt.TraceID}
	t.paid[key], t.graded[key] = paid(x), x.Score
	if score, has := t.scores[run][x.Attempt.ProblemID]; has && x.Outcome.Ruling == nil {
		t.scored[x.Attempt.TaskType] = append(t.scored[x.Attempt.TaskType], agreement.Run{ID: x.Attempt.TraceID, Agent: t.agents[run], Quality: score})
	}
}

// byCategory compares outcomes attempt by attempt. A verdict that an episode brings
// along is no outcome of ours.
func (t *truth) byCategory() (all []agreement.Validator) {
	ours := agreement.Ratings{Name: "outcome", Scores: map[agreement.Key]*float64{}}
	for key, n := range t.paid {
		ours.Scores[agreement.Key{Run: key.Problem}] = n
	}
	for _, category := range slices.Sorted(maps.Keys(t.scored)) {
		v := agreement.AgainstValidator(t.scored[category], &ours, agreement.DefaultOptions())
		if v.Figure = "score, " + category; v.Runs > 0 {
			all = append(all, v)
		}
	}
	return all
}

// paid is what the verifier paid, or 1 for a success; nil where the attempt was none.
func paid(x *block.Entry) *float64 {
	if r := x.Outcome.Ruling; r != nil {
		return r.Score
	}
	n := 0.0
	if x.Outcome.Success {
		n = 1
	}
	return &n
}

// held compares run by run.
func (t *truth) held() (all []agreement.Validator) {
	for _, figure := range []string{agreement.FigureScore, agreement.FigureQuality, agreement.FigureCoefficient} {
		ours := agreement.Ratings{Name: "judge", Scores: t.graded}
		if figure == agreement.FigureScore {
			ours = agreement.Ratings{Name: "outcome", Scores: t.paid}
		}
		var runs []agreement.Run
		for _, id := range slices.Sorted(maps.Keys(t.carried)) {
			c := t.carried[id]
			if run, has := c.Against(figure); has {
				run.ID, run.Agent = id, t.agents[id]
				runs = append(runs, run)
			}
		}
		v := agreement.AgainstValidator(runs, &ours, agreement.DefaultOptions())
		if v.Figure = figure; v.Runs > 0 {
			all = append(all, v)
		}
	}
	return append(all, t.byCategory()...)
}

// subnetText is how far the build agrees with the subnet, as the dataset card has it.
func subnetText(all []agreement.Validator) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nHow far the build agrees with what the day's runs carry of the subnet's own figures, run by run (ours less theirs; 95 % intervals draw agents): what was paid or solved times the run's coefficient, the mean grade, and what the subnet's rule makes of it. Score is told attempt by attempt and category: solved by our rules, less what the validator gave.\n\n| figure | ours | runs | attempts | agents | bias | distance | correlation |\n|---|---|---:|---:|---:|---|---|---|\n")
	for _, v := range all {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %s | %s | %s |\n", v.Figure, v.Judge, v.Runs, v.Attempts, v.Agents, figure(v.Bias), figure(v.Distance), figure(v.Correlation))
	}
	return b.String()
}
