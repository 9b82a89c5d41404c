package distil

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/stats"
)

// The kinds of rules by which a challenger replaces the king, in the order in which the subnet
// had them.
const (
	Relative  = "relative"
	PairedT   = "paired_t"
	Composite = "composite"
)

// Rule decides whether a challenger replaces the king.
type Rule struct {
	Kind string `json:"kind"`
	// Epsilon is the share by which a challenger's KL must be below the king's, 0 to 1. It is
	// for rules of kind relative.
	Epsilon float64 `json:"epsilon,omitempty"`
	// Alpha is the level of the one-sided paired t-test. MinPairs is the minimum number of
	// prompts that both models have. Both are for kind paired_t. Margin is the share by which
	// the challenger must be better than the king, for kinds paired_t and composite.
	Alpha    float64 `json:"alpha,omitempty"`
	Margin   float64 `json:"margin,omitempty"`
	MinPairs int     `json:"min_pairs,omitempty"`
	// Weights are the weights of the axes of the composite score, nil for equal weights.
	Weights map[string]float64 `json:"weights,omitempty"`
}

// Eras are the rules that subnet 97 had in turn, with their parameters.
var Eras = []Rule{
	{Kind: Relative, Epsilon: 0.01},
	{Kind: PairedT, Alpha: 0.05},
	{Kind: PairedT, Alpha: 0.03, Margin: 0.03, MinPairs: 100},
	{Kind: Composite, Margin: 0.05},
}

// String returns the rule with its parameters.
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

// check returns an error if the kind or a parameter of the rule is invalid. A nil rule is
// valid.
func (r *Rule) check() error {
	if r == nil {
		return nil
	}
	ok := false
	switch r.Kind {
	case Relative:
		ok = r.Epsilon >= 0 && r.Epsilon < 1
	case Composite:
		ok = r.Margin >= 0
	case PairedT:
		ok = r.Alpha > 0 && r.Alpha < 1 && r.Margin >= 0 && r.Margin < 1
	}
	if !ok {
		return fmt.Errorf("rule %+v: kinds are relative (epsilon), paired_t (alpha, margin, min_pairs) and composite (margin, weights)", *r)
	}
	return nil
}

// Verdict is the result of a rule for one challenger.
type Verdict struct {
	Model string `json:"model" parquet:"model"`
	UID   string `json:"uid,omitempty" parquet:"uid"`
	// Lead is the mean of the king's KL minus the challenger's, over the prompts that both
	// have.
	Lead contest.Figure `json:"lead" parquet:"lead"`
	// Relative is the share by which the challenger's KL is below the king's.
	Relative contest.Number `json:"relative" parquet:"relative"`
	// P is the p-value of the one-sided paired t-test that the challenger is better than the
	// king by the rule's margin.
	P contest.Number `json:"p" parquet:"p"`
	// Composite is the composite score, NaN if the files have no axes.
	Composite contest.Number `json:"composite" parquet:"composite"`
	Passes    bool           `json:"passes" parquet:"passes"`
	// Excluded is the reason why the challenger does not count, empty if it counts.
	Excluded string `json:"out,omitempty" parquet:"out"`
}

func (r *Rule) verdict(king, c *Student, excluded string) Verdict {
	return Verdict{
		Model:     c.Model,
		UID:       c.UID,
		Lead:      contest.Mean(leads(king, c, 0)),
		Relative:  contest.Number(1 - c.Mean()/king.Mean()),
		P:         contest.Number(stats.PairedT(leads(king, c, r.Margin))),
		Composite: contest.Number(c.composite(r.Weights)),
		Passes:    r.passes(king, c),
		Excluded:  excluded,
	}
}

// passes reports whether the challenger c is enough better than the king for the rule.
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

// leads returns, for each prompt that both students have, (1-margin) times the king's KL minus
// the challenger's. A positive value means that the challenger is better by more than the
// margin.
func leads(king, c *Student, margin float64) []float64 {
	d := make([]float64, min(len(king.KLs), len(c.KLs)))
	for i := range d {
		d[i] = float64((1-margin)*king.KLs[i]) - c.KLs[i]
	}
	return d
}

// composite computes the composite score of the student: 0.75 times the mean of the three worst
// axes plus 0.25 times the weighted mean of all axes with a positive weight. It is NaN if no axis
// has a positive weight.
func (s *Student) composite(weights map[string]float64) float64 {
	var values []float64
	sum := 0.0
	total := 0.0
	for _, name := range slices.Sorted(maps.Keys(s.Axes)) { // a sum of floats depends on its order
		v := s.Axes[name]
		w := 1.0
		if weights != nil {
			w = weights[name]
		}
		if w > 0 {
			values = append(values, v)
			sum += float64(w * v)
			total += w
		}
	}
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return float64(0.75*stats.Mean(values[:min(3, len(values))])) + 0.25*sum/total
}

// isBetter reports whether challenger a is ranked above b: by a higher composite score if the
// rule is composite, else by a lower KL.
func (r *Rule) isBetter(a, b *Student) bool {
	if r.Kind == Composite {
		return a.composite(r.Weights) > b.composite(r.Weights)
	}
	return a.Mean() < b.Mean()
}

// decide returns the student that is king after a round: the best challenger that passes the
// rule, or the king. The keys of excluded are the models that do not count.
func (r *Rule) decide(
	king *Student,
	students []Student,
	excluded map[string]string,
) *Student {
	winner := king
	for i := range students {
		c := &students[i]
		if c.Model == king.Model || excluded[c.Model] != "" || !r.passes(king, c) {
			continue
		}
		if winner == king || r.isBetter(c, winner) {
			winner = c
		}
	}
	return winner
}

// stopPrompt returns the number of prompts, at least 7, after which the validator stops a
// challenger: the first number for which the challenger's mean KL minus 1.96 standard errors is
// above the king's mean over the same prompts. It returns 0 if there is none.
func stopPrompt(king, c *Student) int {
	for n := 7; n <= min(len(king.KLs), len(c.KLs)); n++ {
		mean := stats.Mean(c.KLs[:n])
		if mean-float64(stats.Z95*stats.ClusteredSE(c.KLs[:n])) > stats.Mean(king.KLs[:n]) {
			return n
		}
	}
	return 0
}
