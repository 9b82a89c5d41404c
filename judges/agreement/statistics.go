package agreement

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/internal/stats"
)

// A statistic that is not defined is NaN in here and null in a report.

// pairStatistics are exact agreement, kappa, weighted kappa, bias and the
// three alphas.
func pairStatistics(t table, levels []float64) []float64 {
	n, exact, bias := 0.0, 0.0, 0.0
	for i, row := range t.confusion {
		exact += row[i]
		for j, c := range row {
			n += c
			bias += float64(c * (levels[j] - levels[i]))
		}
	}
	squared := func(i, j int) float64 { return square(levels[i] - levels[j]) }
	return append([]float64{exact / n, beyondChance(t.confusion, 0, unequal), beyondChance(t.confusion, 0, squared), bias / n}, alphas(t, levels)...)
}

// alphas are Krippendorff's for nominal, ordinal and interval scores.
func alphas(t table, levels []float64) []float64 {
	_, n, _ := margins(t.coincidence)
	return []float64{
		beyondChance(t.coincidence, 1, unequal),
		beyondChance(t.coincidence, 1, func(i, j int) float64 { return ordinal(n, i, j) }),
		beyondChance(t.coincidence, 1, func(i, j int) float64 { return square(levels[i] - levels[j]) }),
	}
}

// beyondChance is 1 - observed/expected disagreement under a weight: Cohen's kappa
// (1960, 1968) of a confusion, and of coincidences, where a score is never held
// against itself and so is one less, Krippendorff's alpha (2011, Computing
// Krippendorff's Alpha-Reliability).
func beyondChance(counts [][]float64, less float64, weight func(i, j int) float64) float64 {
	n, rows, columns := margins(counts)
	var observed, expected float64
	for i, row := range counts {
		for j, c := range row {
			observed += float64(weight(i, j) * c)
			expected += weight(i, j) * rows[i] * columns[j] / (n - less)
		}
	}
	return 1 - observed/expected
}

func unequal(i, j int) float64 { return float64(min(1, max(i-j, j-i))) }

// ordinal is the squared number of scores that lie between two levels, each
// end counting half.
func ordinal(n []float64, i, j int) float64 {
	if i == j {
		return 0
	}
	between := -(n[i] + n[j]) / 2
	for g := min(i, j); g <= max(i, j); g++ {
		between += n[g]
	}
	return square(between)
}

func margins(m [][]float64) (n float64, rows, columns []float64) {
	rows, columns = make([]float64, len(m)), make([]float64, len(m))
	for i, row := range m {
		for j, c := range row {
			n += c
			rows[i] += c
			columns[j] += c
		}
	}
	return n, rows, columns
}

func square(x float64) float64 { return x * x }

// figures computes statistics of the tables of all problems.
func (c clusters) figures(levels []float64, opt Options, compute func(t table, levels []float64) []float64) []Figure {
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
	d := dice.New(opt.Seed)
	for k := 0; n > 1 && k < opt.Samples; k++ {
		for i := range at {
			at[i] = d.N(n)
		}
		for i, x := range compute(at) {
			if stats.FiniteOrNil(x) != nil {
				drawn[i] = append(drawn[i], x)
			}
		}
	}
	all := make([]Figure, len(values))
	for i, x := range values {
		if all[i].Value = stats.FiniteOrNil(x); all[i].Value != nil {
			all[i].CI95 = interval(drawn[i])
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
