package filters_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestClaimsOfOtherAuthors keeps the table of docs/measured/filter.md: for each author
// of labelled attempts, what the claims are worth that a slope fitted on all other
// authors makes of the same odds. Claims above 0.95 are right in 0.97.
func TestClaimsOfOtherAuthors(t *testing.T) {
	if !longtest.Tests {
		t.Skip("a simulation of many days: go test -tags long")
	}
	t.Parallel()
	all := judgeAuthors(t)
	losses := map[string][]float64{}
	total := make([]float64, len(slopes))
	for author, judged := range all {
		losses[author] = misfit(judged)
		for i := range total {
			total[i] += losses[author][i]
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %6s %6s %8s %10s %6s\n", "author", "n", "slope", "unknown", "above .95", "Brier")
	right, claims := 0, 0
	var diagram strings.Builder
	fmt.Fprintf(&diagram, "\n%-14s %-12s %6s %8s %6s %15s\n", "author", "claim", "n", "claimed", "true", "95 %")
	for _, author := range authors {
		slope := bestSlope(total, losses[author])
		writeDiagram(&diagram, author, all[author], slope)
		unknown, sure, so, brier := 0, 0, 0, 0.0
		for _, j := range all[author] {
			p := claimed(j, slope)
			brier += math.Pow(p-truth(j), 2) / float64(len(all[author]))
			switch {
			case j.after.Axis == arena.AxisUnknown:
				unknown++
			case p > 0.95 || p < 0.05:
				sure++
				so += right1(p > 0.5, j.agentic)
			}
		}
		right, claims = right+so, claims+sure
		fmt.Fprintf(&b, "%-14s %6d %6.2f %8d %10s %6.3f\n", author, len(all[author]), slope, unknown, fmt.Sprintf("%d/%d", so, sure), brier)
	}
	if 100*right < 97*claims {
		t.Errorf("%d of %d claims above 0.95 are right, want 0.97", right, claims)
	}
	golden(t, "authors.txt", b.String()+diagram.String())
}

// writeDiagram holds what is claimed of an author's attempts, by a slope that was fitted on
// all others, against what is so.
func writeDiagram(b *strings.Builder, author string, judged []judgement, slope float64) {
	edges := [...]float64{0, 0.05, 0.2, 0.5, 0.500001, 0.8, 0.95, 1.01}
	for i, low := range edges[:len(edges)-1] {
		agentic, n, sum := 0, 0, 0.0
		for _, j := range judged {
			if p := claimed(j, slope); p >= low && p < edges[i+1] {
				agentic, n, sum = agentic+int(truth(j)), n+1, sum+p
			}
		}
		if n == 0 {
			continue
		}
		band := fmt.Sprintf("%.2f to %.2f", low, min(edges[i+1], 1))
		if low == 0.5 {
			band = "unknown"
		}
		from, to := habits.Ratio{Part: agentic, Whole: n}.Interval()
		fmt.Fprintf(b, "%-14s %-12s %6d %8.3f %6.3f %7.3f-%7.3f\n", author, band, n, sum/float64(n), float64(agentic)/float64(n), from, to)
	}
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
