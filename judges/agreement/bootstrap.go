package agreement

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/trajectory-arena/arena/internal/dice"
)

// statistics computes several figures from one table.
type statistics func(t table, levels []float64) []float64

// figures computes statistics of the tables of all problems.
func (c clusters) figures(levels []float64, opt Options, compute statistics) []Figure {
	return figures(len(c), opt, func(drawn []int) []float64 {
		sum := newTable(len(levels))
		for _, i := range drawn {
			sum.add(c[i])
		}
		return compute(sum, levels)
	})
}

// figures computes statistics over all of n problems, and their intervals over
// problems drawn with replacement: attempts at one problem are no independent
// witnesses.
func figures(n int, opt Options, compute func(drawn []int) []float64) []Figure {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	values := compute(at)
	drawn := make([][]float64, len(values))
	d := dice.Roll(opt.Seed)
	for range opt.Samples {
		if n < 2 {
			break
		}
		for i := range at {
			at[i] = d.N(n)
		}
		for i, x := range compute(at) {
			if defined(x) {
				drawn[i] = append(drawn[i], x)
			}
		}
	}
	all := make([]Figure, len(values))
	for i, x := range values {
		if defined(x) {
			all[i] = Figure{&x, interval(drawn[i])}
		}
	}
	return all
}

// interval has the 2.5th and 97.5th percentile; nil where nothing was drawn.
func interval(drawn []float64) *[2]float64 {
	if len(drawn) == 0 {
		return nil
	}
	slices.Sort(drawn)
	return &[2]float64{stat.Quantile(0.025, stat.LinInterp, drawn, nil), stat.Quantile(0.975, stat.LinInterp, drawn, nil)}
}
