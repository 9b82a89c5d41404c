package distil

import (
	"math/rand/v2"

	"github.com/trajectory-arena/arena/contest"
)

// SimulatedAxes is a simulated rate: how often the newest composite rule, with another margin,
// accepts challengers whose true axes are known.
type SimulatedAxes struct {
	Margin float64 `json:"margin"`
	// Items is the number of items of each axis.
	Items int `json:"items"`
	// Better is the share by which each true axis of the challengers is above the king's. If it
	// is 0, the rates are those of wrongly replaced kings.
	Better float64 `json:"better"`
	// Challenger is the rate of challengers that pass. Round is the rate of rounds of five
	// challengers in which at least one passes. The intervals cover the error of the simulation
	// only.
	Challenger contest.Figure `json:"per_challenger"`
	Round      contest.Figure `json:"per_round"`
	FromKings  int            `json:"from_kings"`
}

// SimulateAxes simulates rounds by the newest composite rule, for each margin, number of items
// per axis and share by which challengers are better. The true axes of the king are the
// published ones of a round. Since no published file has the items of an axis, each item passes
// or fails by chance, independently. It returns nil if no king has the axes that the rule needs.
func SimulateAxes(
	rounds []*Round,
	margins []float64,
	items []int,
	better []float64,
	times int,
) []SimulatedAxes {
	rule := Versions[len(Versions)-1].Rule
	rule.Weights = nil
	var kings []*Student
	for _, r := range rounds {
		if king := r.king(); king != nil && len(king.Axes) >= rule.MinAxes {
			kings = append(kings, king)
		}
	}
	if len(kings) == 0 {
		return nil
	}
	var out []SimulatedAxes
	for _, margin := range margins {
		for _, n := range items {
			for _, share := range better {
				rule.Margin = margin
				out = append(out, rule.simulateAxes(kings, n, share, times))
			}
		}
	}
	return out
}

func (r *Rule) simulateAxes(
	kings []*Student,
	items int,
	better float64,
	times int,
) SimulatedAxes {
	random := rand.New(rand.NewPCG(3, uint64(items))) //nolint:forbidigo // seeded: the same numbers every time
	passed := 0
	dethroned := 0
	for _, king := range kings {
		for range times {
			measured := king.measure(random, items, 0)
			before := passed
			for range challengers {
				c := king.measure(random, items, better)
				if r.passes(&measured, &c) {
					passed++
				}
			}
			if passed > before {
				dethroned++
			}
		}
	}
	rounds := len(kings) * times
	return SimulatedAxes{
		Margin:     r.Margin,
		Items:      items,
		Better:     better,
		Challenger: contest.Rate(passed, rounds*challengers),
		Round:      contest.Rate(dethroned, rounds),
		FromKings:  len(kings),
	}
}

// measure simulates the measurement of a student's axes (the parts of its composite score, each a
// share of solved items). It returns a student whose value of each axis is measured on the given
// number of random items. The true value is that of s times 1 + better, at most 1.
func (s *Student) measure(
	random *rand.Rand, //nolint:forbidigo // the simulation has its own seed
	items int,
	better float64,
) Student {
	c := Student{Axes: make(map[string]float64, len(s.Axes))}
	all := Rule{}
	for _, a := range all.axes(s) {
		truth := min(1, a.value*(1+better))
		passed := 0
		for range items {
			if random.Float64() < truth {
				passed++
			}
		}
		c.Axes[a.name] = float64(passed) / float64(items)
	}
	return c
}
