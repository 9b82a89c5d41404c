package filters_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestAblation checks the table of docs/decisions: how many attempts of each set change their axis
// without one rule, and how many of those become wrong or right. A program is right where it is not
// agentic. The test runs alone, since it changes the rules.
func TestAblation(t *testing.T) {
	if !longtest.Tests {
		t.Skip("all sets once for each rule: go test -tags long")
	}
	sets := []string{"real", "day", "cases", "set on", "left out"}
	var days []*ablated
	for _, day := range [][]labelled{readDay(t, longtest.Shared(t, "data/axis")), readDay(t, longtest.Shared(t, "data/day")), readDay(t, longtest.Shared(t, "cases/filter/redteam")), play(setOn), play(leftOut)} {
		days = append(days, ablate(t, day))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s", "rule off")
	for i, set := range sets {
		fmt.Fprintf(&b, " %18s", fmt.Sprintf("%s %d", set, len(days[i].judgements)))
	}
	b.WriteString("\n")
	row := func(name string, rule int) {
		fmt.Fprintf(&b, "%-18s", name)
		for _, d := range days {
			fmt.Fprintf(&b, " %18s", d.without(rule))
		}
		b.WriteString("\n")
	}
	for rule, name := range filters.Rules() {
		row(name, rule)
	}
	var reasons []string
	for i := range habits.Proofs {
		reasons = append(reasons, habits.Proofs[i].Reason)
	}
	for i := range habits.All {
		reasons = append(reasons, habits.All[i].Reason)
	}
	for _, reason := range reasons {
		filters.WithoutHabit(reason, func() { row(reason, -1) })
	}
	golden(t, "ablation.txt", b.String())
}

// ablated is a set with what each rule of the first pass adds to its attempts.
type ablated struct {
	filter     *filters.Filter
	judgements []judgement
	odds       [][]float64
	decides    []bool
}

func ablate(t *testing.T, day []labelled) *ablated {
	t.Helper()
	a := &ablated{filter: newFilter(t), judgements: judgeDay(t, day)}
	for _, l := range day {
		d := filters.Normalise(l.trace)
		odds, decides := filters.Odds(a.filter, l.trace, &d)
		a.odds, a.decides = append(a.odds, odds), append(a.decides, decides)
	}
	return a
}

// without returns how many axes change without one rule of the first pass (-1 for none of the
// rules), and how many of these verdicts turn from right to wrong or from wrong to right.
func (a *ablated) without(rule int) string {
	before := make([]arena.Structure, len(a.judgements))
	checked := make([]*filters.Checked, len(a.judgements))
	for i := range a.judgements {
		sample := a.judgements[i].sample
		before[i] = a.judgements[i].before
		if rule >= 0 {
			filters.Without(&before[i], &sample, a.odds[i][rule], a.decides[i])
		}
		checked[i] = &filters.Checked{ID: strconv.Itoa(i), Agent: a.judgements[i].trace.RunID, Sample: sample}
	}
	day := a.filter.Day(checked)
	changed := 0
	lost := 0
	won := 0
	for i := range a.judgements {
		j := &a.judgements[i]
		agent := day.Agents[j.trace.RunID]
		is := a.filter.Revise(before[i], agent.Odds(&checked[i].Sample), agent).Axis
		if is == j.after.Axis {
			continue
		}
		changed++
		lost += right(j.after.Axis, j.agentic) * (1 - right(is, j.agentic))
		won += (1 - right(j.after.Axis, j.agentic)) * right(is, j.agentic)
	}
	if changed == 0 {
		return "0"
	}
	return fmt.Sprintf("%d -%d +%d", changed, lost, won)
}
