package distil

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/stats"
)

// The kinds of rules, in the order in which the subnet had them.
const (
	Relative  = "relative"
	PairedT   = "paired_t"
	Composite = "composite"
)

// Rule says when a challenger takes the crown.
type Rule struct {
	Kind string `json:"kind"`
	// Epsilon: a challenger's KL must be below the king's by this share
	// (relative), 0 to 1.
	Epsilon float64 `json:"epsilon,omitempty"`
	// Alpha is the level of the one-sided paired t-test; Margin the share of the
	// king's KL by which the challenger must be better; MinPairs the least
	// number of prompts.
	Alpha    float64 `json:"alpha,omitempty"`
	Margin   float64 `json:"margin,omitempty"`
	MinPairs int     `json:"min_pairs,omitempty"`
	// Weights are those of the axes (composite); none weighs all alike.
	Weights map[string]float64 `json:"weights,omitempty"`
}

// Eras are the rules that subnet 97 had, with its own parameters.
var Eras = []Rule{
	{Kind: Relative, Epsilon: 0.01},
	{Kind: PairedT, Alpha: 0.05},
	{Kind: PairedT, Alpha: 0.03, Margin: 0.03, MinPairs: 100},
	{Kind: Composite, Margin: 0.05},
}

// String names the rule with its parameters.
func (r *Rule) String() string {
	switch {
	case r.Kind == Relative:
		return fmt.Sprintf("KL below the king's by %g %%", 100*r.Epsilon)
	case r.Kind == Composite:
		return fmt.Sprintf("composite above the king's by %g %%", 100*r.Margin)
	case r.Margin == 0 && r.MinPairs == 0:
		return fmt.Sprintf("paired t-test at %g", r.Alpha)
	default:
		return fmt.Sprintf("paired t-test at %g, margin %g %%, at least %d prompts", r.Alpha, 100*r.Margin, r.MinPairs)
	}
}

// check is an error where a rule's parameters make no rule; nil is no rule.
func (r *Rule) check() error {
	if r == nil {
		return nil
	}
	ok := r.Kind == Relative && r.Epsilon >= 0 && r.Epsilon < 1 || r.Kind == Composite && r.Margin >= 0 ||
		r.Kind == PairedT && r.Alpha > 0 && r.Alpha < 1 && r.Margin >= 0 && r.Margin < 1
	if !ok {
		return fmt.Errorf("rule %+v: kinds are relative (epsilon), paired_t (alpha, margin, min_pairs) and composite (margin, weights)", *r)
	}
	return nil
}

// Verdict is what a rule says of one challenger.
type Verdict struct {
	Model string `json:"model" parquet:"model"`
	UID   string `json:"uid,omitempty" parquet:"uid"`
	// Lead is the king's KL less the challenger's, over the prompts of both.
	Lead contest.Figure `json:"lead" parquet:"lead"`
	// Relative is how far below the king's KL the challenger's is, as a share.
	Relative contest.Number `json:"relative" parquet:"relative"`
	// P is that of the one-sided paired t-test with the rule's margin.
	P contest.Number `json:"p" parquet:"p"`
	// Composite is the composite score where the files have axes.
	Composite contest.Number `json:"composite" parquet:"composite"`
	Passes    bool           `json:"passes" parquet:"passes"`
	// Out says why the challenger does not count; empty if he does.
	Out string `json:"out,omitempty" parquet:"out"`
}

func (r *Rule) judge(king, c *Student, out string) Verdict {
	return Verdict{Model: c.Model, UID: c.UID, Out: out, Lead: contest.MeanOf(leads(king, c, 0)),
		Relative:  contest.Number(1 - c.Mean()/king.Mean()),
		P:         contest.Number(stats.PairedT(leads(king, c, r.Margin))),
		Composite: contest.Number(c.composite(r.Weights)), Passes: r.passes(king, c)}
}

func (r *Rule) passes(king, c *Student) bool {
	switch r.Kind {
	case Relative:
		return c.Mean() < (1-r.Epsilon)*king.Mean()
	case PairedT:
		d := leads(king, c, r.Margin)
		return len(d) >= max(2, r.MinPairs) && stats.Mean(d) > 0 && stats.PairedT(d) < r.Alpha
	default:
		return c.composite(r.Weights) >= (1+r.Margin)*king.composite(r.Weights)
	}
}

// leads are (1-margin) of the king's KL less the challenger's by prompt, as far as
// both go.
func leads(king, c *Student, margin float64) []float64 {
	d := make([]float64, min(len(king.KLs), len(c.KLs)))
	for i := range d {
		d[i] = float64((1-margin)*king.KLs[i]) - c.KLs[i]
	}
	return d
}

// composite is 0.75 of the mean of the three worst axes and 0.25 of the weighted
// mean of all; NaN without axes.
func (s *Student) composite(weights map[string]float64) float64 {
	var values []float64
	sum, total := 0.0, 0.0
	for _, name := range slices.Sorted(maps.Keys(s.Axes)) { // a sum of floats depends on its order
		v, w := s.Axes[name], 1.0
		if weights != nil {
			w = weights[name]
		}
		if w > 0 {
			values, sum, total = append(values, v), sum+float64(w*v), total+w
		}
	}
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return float64(0.75*stats.Mean(values[:min(3, len(values))])) + 0.25*sum/total
}

// better reports whether a challenger who passes goes before another: the lowest
// KL, or the highest composite.
func (r *Rule) better(a, b *Student) bool {
	if r.Kind == Composite {
		return a.composite(r.Weights) > b.composite(r.Weights)
	}
	return a.Mean() < b.Mean()
}

// decide is the king after a round. out says why a student does not count.
func (r *Rule) decide(king *Student, students []Student, out map[string]string) *Student {
	winner := king
	for i := range students {
		c := &students[i]
		if c.Model != king.Model && out[c.Model] == "" && r.passes(king, c) && (winner == king || r.better(c, winner)) {
			winner = c
		}
	}
	return winner
}

// stopAt is the number of prompts after which the validator would have stopped a
// challenger: 7 or more, and his mean less 1.96 standard errors above the king's
// mean over the same prompts; 0 for never.
func stopAt(king, c *Student) int {
	for n := 7; n <= min(len(king.KLs), len(c.KLs)); n++ {
		mean := stats.Mean(c.KLs[:n])
		if mean-float64(stats.Z95*stats.ClusteredSE(c.KLs[:n])) > stats.Mean(king.KLs[:n]) {
			return n
		}
	}
	return 0
}
