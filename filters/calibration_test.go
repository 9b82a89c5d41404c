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

// TestClaimsOfOtherAuthors checks the table of docs/measured/filter.md: for each author of labelled
// attempts, the reliability of the filter's claims. Over all authors at least 0.97 of the claims
// above 0.95 are right, the expected calibration error of claims without a cap is 0.05 at most, and
// at least half of the right verdicts have no cap.
func TestClaimsOfOtherAuthors(t *testing.T) {
	if !longtest.Tests {
		t.Skip("a simulation of many days: go test -tags long")
	}
	t.Parallel()
	byAuthor := judgeAuthors(t)
	var b, diagram strings.Builder
	fmt.Fprintf(&b, "%-14s %6s %8s %12s %12s %12s %6s %6s\n", "author", "n", "unknown", "above .95", "less sure", "capped", "Brier", "ECE")
	fmt.Fprintf(&diagram, "\n%-14s %-12s %6s %8s %6s %15s\n", "author", "claim", "n", "claimed", "true", "95 %")
	var total claims
	for _, author := range authors {
		c := newClaims(byAuthor[author])
		writeDiagram(&diagram, author, byAuthor[author])
		fmt.Fprintln(&b, c.row(author))
		total.add(&c)
	}
	fmt.Fprintln(&b, total.row("all"))
	if 100*total.sure.Part < 97*total.sure.Whole {
		t.Errorf("%v of the claims above 0.95 are right, want 0.97", total.sure)
	}
	if total.calibrationError() > 0.05 {
		t.Errorf("the expected calibration error without capped claims is %.3f, want 0.05", total.calibrationError())
	}
	if free := total.sure.Part + total.less.Part; free < total.capped.Part {
		t.Errorf("%d right verdicts are without a cap, %d with one", free, total.capped.Part)
	}
	golden(t, "authors.txt", b.String()+diagram.String())
}

// claims counts the verdicts on the attempts of an author, and how many of each kind are
// right: claims above 0.95, other claims, and claims of agentic at the cap.
type claims struct {
	n, unknown         int
	sure, less, capped habits.Ratio
	squares            float64
	// bands sum the claimed and the right, by tenths of the claim, without caps.
	bands [10]struct{ n, claimed, right float64 }
}

// confidenceCap is the confidence of an agentic attempt of a doubtful agent.
const confidenceCap = 0.8

func newClaims(judged []judgement) (c claims) {
	for _, j := range judged {
		c.n++
		c.squares += math.Pow(claimed(j)-truth(j), 2)
		right := right1(j.after.Axis == arena.AxisAgentic, j.agentic)
		count := func(r *habits.Ratio) {
			r.Part += right
			r.Whole++
		}
		switch {
		case j.after.Axis == arena.AxisUnknown:
			c.unknown++
			continue
		case j.after.Axis == arena.AxisAgentic && j.after.Confidence == confidenceCap:
			count(&c.capped)
			continue
		case j.after.Confidence > 0.95:
			count(&c.sure)
		default:
			count(&c.less)
		}
		band := &c.bands[min(int(10*j.after.Confidence), 9)]
		band.n++
		band.claimed += j.after.Confidence
		band.right += float64(right)
	}
	return c
}

func (c *claims) add(o *claims) {
	c.n += o.n
	c.unknown += o.unknown
	c.squares += o.squares
	for _, pair := range [][2]*habits.Ratio{{&c.sure, &o.sure}, {&c.less, &o.less}, {&c.capped, &o.capped}} {
		pair[0].Part += pair[1].Part
		pair[0].Whole += pair[1].Whole
	}
	for i := range c.bands {
		c.bands[i].n += o.bands[i].n
		c.bands[i].claimed += o.bands[i].claimed
		c.bands[i].right += o.bands[i].right
	}
}

// calibrationError returns the mean distance of claimed and right shares, over bands of a tenth,
// weighted by their claims.
func (c *claims) calibrationError() float64 {
	sum := 0.0
	n := 0.0
	for _, band := range c.bands {
		sum += math.Abs(band.claimed - band.right)
		n += band.n
	}
	return sum / max(n, 1)
}

func (c *claims) row(author string) string {
	share := func(r habits.Ratio) string { return fmt.Sprintf("%d/%d", r.Part, r.Whole) }
	return fmt.Sprintf("%-14s %6d %8d %12s %12s %12s %6.3f %6.3f", author, c.n, c.unknown,
		share(c.sure), share(c.less), share(c.capped), c.squares/float64(c.n), c.calibrationError())
}

// writeDiagram compares the claims on an author's attempts with the right answers.
func writeDiagram(b *strings.Builder, author string, judged []judgement) {
	edges := [...]float64{0, 0.05, 0.2, 0.5, 0.500001, 0.799, 0.801, 0.95, 1.01}
	for i, low := range edges[:len(edges)-1] {
		agentic := 0
		n := 0
		sum := 0.0
		for _, j := range judged {
			if p := claimed(j); p >= low && p < edges[i+1] {
				agentic, n, sum = agentic+int(truth(j)), n+1, sum+p
			}
		}
		if n == 0 {
			continue
		}
		band := fmt.Sprintf("%.2f to %.2f", low, min(edges[i+1], 1))
		switch low {
		case 0.5:
			band = "unknown"
		case 0.799:
			band = "capped, 0.80"
		}
		low, high := habits.Ratio{Part: agentic, Whole: n}.Interval()
		fmt.Fprintf(b, "%-14s %-12s %6d %8.3f %6.3f %7.3f-%7.3f\n", author, band, n, sum/float64(n), float64(agentic)/float64(n), low, high)
	}
}

func right1(predicted, actual bool) int {
	if predicted == actual {
		return 1
	}
	return 0
}

// claimed is the probability, by the filter, that the model decided.
func claimed(j judgement) float64 {
	switch j.after.Axis {
	case arena.AxisAgentic:
		return j.after.Confidence
	case arena.AxisScripted:
		return 1 - j.after.Confidence
	case arena.AxisUnknown:
	}
	return 0.5
}
