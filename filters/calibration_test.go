package filters_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/long"
)

// TestClaimsOfOtherAuthors keeps the table of docs/measured/filter.md: for each author
// of labelled attempts, what the claims are worth that a slope fitted on all other
// authors makes of the same odds. Claims above 0.95 are right in 0.97.
func TestClaimsOfOtherAuthors(t *testing.T) {
	if !long.Tests {
		t.Skip("a simulation of many days: go test -tags long")
	}
	t.Parallel()
	authors := map[string][]judgement{"labelled day": judgeDay(t, readDay(t, sharedDay(t))), "simulated": judgeDay(t, slices.Concat(play(setOn), play(leftOut)))}
	for _, j := range judgeDay(t, readDay(t, shared(t, "data/axis"))) {
		author, _, _ := strings.Cut(j.family, "-")
		authors[author] = append(authors[author], j)
	}
	losses := map[string][]float64{}
	total := make([]float64, len(slopes))
	for author, judged := range authors {
		losses[author] = misfit(judged)
		for i := range total {
			total[i] += losses[author][i]
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %6s %6s %8s %10s %6s\n", "author", "n", "slope", "unknown", "above .95", "Brier")
	right, all := 0, 0
	for _, author := range []string{"labelled day", "simulated", "webshop", "hotpot", "fever", "tau", "toolbench", "reference", "program"} {
		slope := bestSlope(total, losses[author])
		unknown, sure, so, brier := 0, 0, 0, 0.0
		for _, j := range authors[author] {
			p := claimed(j, slope)
			brier += math.Pow(p-truth(j), 2) / float64(len(authors[author]))
			switch {
			case j.after.Axis == arena.AxisUnknown:
				unknown++
			case p > 0.95 || p < 0.05:
				sure++
				so += right1(p > 0.5, j.agentic)
			}
		}
		right, all = right+so, all+sure
		fmt.Fprintf(&b, "%-14s %6d %6.2f %8d %10s %6.3f\n", author, len(authors[author]), slope, unknown, fmt.Sprintf("%d/%d", so, sure), brier)
	}
	if 100*right < 97*all {
		t.Errorf("%d of %d claims above 0.95 are right, want 0.97", right, all)
	}
	golden(t, "authors.txt", b.String())
}

func right1(said, so bool) int {
	if said == so {
		return 1
	}
	return 0
}

// claimed is how surely the odds say, by that slope, that the model decided.
func claimed(j judgement, slope float64) float64 {
	if j.after.Axis == arena.AxisUnknown {
		return 0.5
	}
	return claim(slope * j.odds)
}

// claim is what the filter says at most: 0.01 to 0.99.
func claim(odds float64) float64 {
	return math.Min(math.Max(1/(1+math.Exp(-odds)), 0.01), 0.99)
}

// slopes are the factors on the odds that are tried: one number needs no more
// than a grid.
var slopes = func() (all []float64) {
	for slope := 0.2; slope < 2; slope += 0.05 {
		all = append(all, slope)
	}
	return all
}()

// misfit is the negative log-likelihood of the truth under each of slopes.
func misfit(judged []judgement) []float64 {
	losses := make([]float64, len(slopes))
	for _, j := range judged {
		for i, slope := range slopes {
			if p := claimed(j, slope); j.agentic {
				losses[i] -= math.Log(p)
			} else {
				losses[i] -= math.Log(1 - p)
			}
		}
	}
	return losses
}

// bestSlope is the slope that fits all but one family best.
func bestSlope(total, family []float64) float64 {
	best := 0
	for i := range total {
		if total[i]-family[i] < total[best]-family[best] {
			best = i
		}
	}
	return slopes[best]
}
