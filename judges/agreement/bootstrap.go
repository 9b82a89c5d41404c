package agreement

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/trajectory-arena/arena/internal/dice"
)

// statistics computes several figures from one table.
type statistics func(t table, levels []float64) []float64

// figures computes the statistics over all problems, and their intervals over
// problems drawn with replacement: attempts at one problem are no independent
// witnesses.
func (c clusters) figures(whole table, levels []float64, opt Options, compute statistics) []Figure {
	values := compute(whole, levels)
	drawn := make([][]float64, len(values))
	d, sample := dice.Roll(opt.Seed), newTable(len(whole.confusion))
	for range opt.Samples {
		if len(c) < 2 {
			break
		}
		sample.clear()
		for range c {
			sample.add(c[d.N(len(c))])
		}
		for i, x := range compute(sample, levels) {
			if defined(x) {
				drawn[i] = append(drawn[i], x)
			}
		}
	}
	figures := make([]Figure, len(values))
	for i, x := range values {
		if defined(x) {
			figures[i] = Figure{&x, interval(drawn[i])}
		}
	}
	return figures
}

// interval has the 2.5th and 97.5th percentile; nil where nothing was drawn.
func interval(drawn []float64) *[2]float64 {
	if len(drawn) == 0 {
		return nil
	}
	slices.Sort(drawn)
	return &[2]float64{stat.Quantile(0.025, stat.LinInterp, drawn, nil), stat.Quantile(0.975, stat.LinInterp, drawn, nil)}
}
