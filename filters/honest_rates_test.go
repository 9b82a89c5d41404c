package filters_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestRulesOnHonestRuns checks the table of docs/measured/filter.md. For each rule it has the
// number of attempts in which the rule counts against the model or limits the confidence: honest
// attempts of real runs, those of the labelled day, and attempts of programs.
func TestRulesOnHonestRuns(t *testing.T) {
	if !longtest.Tests {
		t.Skip("days of thousands of attempts: go test -tags long")
	}
	t.Parallel()
	day := judgeDay(t, readDay(t, longtest.Shared(t, "data/day")))
	real := append(judgeDay(t, readDay(t, longtest.Shared(t, "data/axis"))), judgeDay(t, readDay(t, longtest.Shared(t, "data/axis2")))...)
	sets := [...]struct {
		name   string
		judged []judgement
	}{
		{"honest, real", withLabel(real, true)},
		{"honest, day", withLabel(day, true)},
		{"programs", append(withLabel(real, false), withLabel(day, false)...)},
	}

	f := newFilter(t)
	var counts [len(sets)]map[string]int
	rules := map[string]bool{}
	for i, set := range sets {
		counts[i] = countRules(f, set.judged)
		for rule := range counts[i] {
			rules[rule] = true
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s", "rule")
	for _, set := range sets {
		fmt.Fprintf(&b, " %26s", fmt.Sprintf("%s %d", set.name, len(set.judged)))
	}
	b.WriteString("\n")
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		fmt.Fprintf(&b, "%-20s", rule)
		for i, set := range sets {
			low, high := habits.Ratio{Part: counts[i][rule], Whole: len(set.judged)}.Interval()
			fmt.Fprintf(&b, " %26s", fmt.Sprintf("%d (%.2f to %.2f %%)", counts[i][rule], 100*low, 100*high))
		}
		b.WriteString("\n")
	}
	golden(t, "honest_rates.txt", b.String())
}

func withLabel(judged []judgement, agentic bool) []judgement {
	return slices.DeleteFunc(slices.Clone(judged), func(j judgement) bool { return j.agentic != agentic })
}

// countRules counts, for each rule, the attempts in which the rule lowers the log-odds that the
// model wrote the calls, or limits the confidence.
func countRules(f *filters.Filter, judged []judgement) map[string]int {
	counts := map[string]int{}
	for i := range judged {
		j := &judged[i]
		d := filters.Normalise(j.trace)
		terms := f.Explain(j.trace, &d).Terms
		terms = append(terms, filters.DayTerms(j.stats.Odds(&j.sample), j.stats)...)
		for _, term := range terms {
			if term.Odds <= 0 && term.Rule != "no_prompts" {
				counts[term.Rule]++
			}
		}
	}
	return counts
}
