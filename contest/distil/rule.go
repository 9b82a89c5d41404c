package distil

import (
	"fmt"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// The kinds of rules by which a challenger replaces the king, in the order in which the subnet
// used them.
const (
	Relative  = "relative"
	PairedT   = "paired_t"
	Composite = "composite"
)

// Rule is a rule by which a challenger replaces the king.
type Rule struct {
	Kind string `json:"kind"`
	// Epsilon is the share, from 0 to 1, by which a challenger's KL must be below the king's. It
	// is used by rules of kind relative.
	Epsilon float64 `json:"epsilon,omitempty"`
	// Alpha is the level of the one-sided paired t-test, and MinPairs the minimum number of
	// prompts that both models have. Both are used by rules of kind paired_t. Margin is the
	// share by which the challenger must be better than the king, for kinds paired_t and
	// composite.
	Alpha    float64 `json:"alpha,omitempty"`
	Margin   float64 `json:"margin,omitempty"`
	MinPairs int     `json:"min_pairs,omitempty"`
	// Weights are the weights of the axes of the composite score, nil for equal weights.
	Weights map[string]float64 `json:"weights,omitempty"`
	// Bottom is the weight, from 0 to 1, of the mean of the Worst lowest axes in the composite
	// score. The remaining weight is that of the weighted mean of all axes.
	Bottom float64 `json:"bottom,omitempty"`
	Worst  int     `json:"worst,omitempty"`
	// Floor is the minimum value of every axis of a challenger, 0 for no minimum.
	Floor float64 `json:"floor,omitempty"`
	// MinAxes is the minimum number of axes of king and challenger. A round with fewer axes has
	// no new king; if SparsePasses is set, it only ignores Floor.
	MinAxes      int  `json:"min_axes,omitempty"`
	SparsePasses bool `json:"sparse_passes,omitempty"`
}

// String returns the rule with its parameters as text.
func (r *Rule) String() string {
	text := fmt.Sprintf("paired t-test at %g", r.Alpha)
	switch {
	case r.Kind == Relative:
		text = fmt.Sprintf("KL below the king's by %g %%", 100*r.Epsilon)
	case r.Kind == Composite:
		text = fmt.Sprintf("composite (%g of the %d worst axes) above the king's by %g %%", r.Bottom, r.Worst, 100*r.Margin)
	case r.Margin > 0 || r.MinPairs > 0:
		text += fmt.Sprintf(", margin %g %%, at least %d prompts", 100*r.Margin, r.MinPairs)
	}
	if r.Floor > 0 {
		text += fmt.Sprintf(", no axis below %g", r.Floor)
	}
	if r.MinAxes > 0 && !r.SparsePasses {
		text += fmt.Sprintf(", at least %d axes", r.MinAxes)
	}
	return text
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
		ok = r.Margin >= 0 && r.Bottom >= 0 && r.Bottom <= 1 && r.Worst > 0
	case PairedT:
		ok = r.Alpha > 0 && r.Alpha < 1 && r.Margin >= 0 && r.Margin < 1
	}
	if !ok {
		return fmt.Errorf("rule of kind %q has a parameter out of range, or the kind is unknown: kinds are relative (epsilon), paired_t (alpha, margin, min_pairs) and composite (margin, weights, bottom, worst, floor, min_axes)", r.Kind)
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
	// Refused is the reason why the rule refuses a challenger whose score or KL is good enough.
	// It is empty if there is none.
	Refused string `json:"refused,omitempty" parquet:"refused"`
	// Excluded is the reason why the challenger does not count. It is empty if it counts.
	Excluded string `json:"out,omitempty" parquet:"out"`
}

func (r *Rule) verdict(king, c *Student, excluded string) Verdict {
	v := Verdict{
		Model:     c.Model,
		UID:       c.UID,
		Lead:      contest.Mean(leads(king, c, 0)),
		Relative:  contest.Number(1 - c.Mean()/king.Mean()),
		P:         contest.Number(stats.PairedT(leads(king, c, r.Margin))),
		Composite: contest.Number(r.composite(c)),
		Passes:    r.passes(king, c),
		Excluded:  excluded,
	}
	if r.isAhead(king, c) {
		v.Refused = r.refusal(king, c)
	}
	return v
}

// passes reports whether the challenger c replaces the king (the best model so far): it is better
// by the rule's margin and meets the rule's other conditions.
func (r *Rule) passes(king, c *Student) bool {
	return r.isAhead(king, c) && r.refusal(king, c) == ""
}

// refusal returns why the rule refuses a challenger regardless of its score or KL: the king (the
// model to beat) or the challenger has values of too few axes (the parts of the composite score),
// or an axis is below the minimum. It returns "" if the rule does not refuse the challenger.
func (r *Rule) refusal(king, c *Student) string {
	if r.Floor == 0 && r.MinAxes == 0 {
		return ""
	}
	axes := r.axes(c)
	n := len(axes)
	kings := len(r.axes(king))
	switch {
	case r.SparsePasses && n < r.MinAxes:
		return ""
	case n < r.MinAxes:
		return fmt.Sprintf("the challenger has %d axes, the rule needs %d", n, r.MinAxes)
	case !r.SparsePasses && kings < r.MinAxes:
		return fmt.Sprintf("the king has %d axes, the rule needs %d", kings, r.MinAxes)
	}
	for _, a := range axes {
		if a.value < r.Floor {
			return fmt.Sprintf("axis %s is %.4g, the floor is %g", a.name, a.value, r.Floor)
		}
	}
	return ""
}

// isAhead reports whether the challenger c is better than the king by as much as the rule
// requires, in KL or in the composite score.
func (r *Rule) isAhead(king, c *Student) bool {
	switch r.Kind {
	case Relative:
		return c.Mean() < (1-r.Epsilon)*king.Mean()
	case PairedT:
		d := leads(king, c, r.Margin)
		return len(d) >= max(2, r.MinPairs) && stats.Mean(d) > 0 && stats.PairedT(d) < r.Alpha
	default:
		return r.composite(c) >= r.composite(king)*(1+r.Margin)
	}
}

// leads returns one number per prompt that both models answered: (1-margin) times the king's KL
// minus the challenger's KL. A positive number means that the challenger is closer to the teacher
// model by more than the margin.
func leads(king, c *Student, margin float64) []float64 {
	d := make([]float64, min(len(king.KLs), len(c.KLs)))
	for i := range d {
		d[i] = float64((1-margin)*king.KLs[i]) - c.KLs[i]
	}
	return d
}

// axis is one part of a student's composite score, such as the share of one kind of tasks that it
// solves, with its weight.
type axis struct {
	name          string
	value, weight float64
}

// axes returns the axes (parts of the composite score) of a student that have a positive weight in
// the rule, sorted by name.
func (r *Rule) axes(s *Student) []axis {
	var out []axis
	for _, name := range slicesx.SortedKeys(s.Axes) { // a sum of floats depends on its order
		w := 1.0
		if r.Weights != nil {
			w = r.Weights[name]
		}
		if w > 0 {
			out = append(out, axis{name, s.Axes[name], w})
		}
	}
	return out
}

// composite computes the composite score of a student, rounded to four decimals as in the
// subnet: a weighted sum of the mean of the worst axes and the weighted mean of all axes. It
// returns NaN if no axis has a positive weight.
func (r *Rule) composite(s *Student) float64 {
	var values []float64
	sum := 0.0
	total := 0.0
	for _, a := range r.axes(s) {
		values = append(values, a.value)
		sum += float64(a.weight * a.value)
		total += a.weight
	}
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	worst := stats.Mean(values[:min(r.Worst, len(values))])
	return python.Round(float64(r.Bottom*worst)+float64((1-r.Bottom)*sum/total), 4)
}

// isBetter reports whether challenger a ranks above b. If the rule is composite (a score of several
// parts), the higher composite score is better, otherwise the lower KL.
func (r *Rule) isBetter(a, b *Student) bool {
	if r.Kind == Composite {
		return r.composite(a) > r.composite(b)
	}
	return a.Mean() < b.Mean()
}

// decide returns the student that is king (the model to beat) after a round: the best of students
// that passes the rule, otherwise the argument king. The result points into students or is king.
// The keys of excluded are the models that do not count.
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
// challenger. It is the first number for which the challenger's mean KL minus 1.96 standard
// errors is above the king's mean over the same prompts. It returns 0 if there is none.
func stopPrompt(king, c *Student) int {
	for n := 7; n <= min(len(king.KLs), len(c.KLs)); n++ {
		mean := stats.Mean(c.KLs[:n])
		if mean-float64(stats.Z95*stats.ClusteredSE(c.KLs[:n])) > stats.Mean(king.KLs[:n]) {
			return n
		}
	}
	return 0
}
