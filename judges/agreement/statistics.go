package agreement

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/internal/stats"
)

// In this file, a statistic that is not defined is NaN. In a report, it is null.

// pairStatistics computes the statistics of two raters, in this order: exact agreement, kappa,
// weighted kappa, bias and the three alphas. levels are the scores of the table's rows. A statistic
// that is not defined is NaN.
func pairStatistics(t table, levels []float64) []float64 {
	var n, exact, bias float64
	for i, row := range t.confusion {
		exact += row[i]
		for j, c := range row {
			n += c
			bias += float64(c * (levels[j] - levels[i]))
		}
	}
	squared := func(i, j int) float64 {
		return square(levels[i] - levels[j])
	}
	kappa := chanceCorrected(t.confusion, 0, unequal)
	weighted := chanceCorrected(t.confusion, 0, squared)
	return append([]float64{
		exact / n,
		kappa,
		weighted,
		bias / n,
	}, alphas(t, levels)...)
}

// alphas computes Krippendorff's alpha for nominal, ordinal and interval scores, in this order.
func alphas(t table, levels []float64) []float64 {
	_, n, _ := margins(t.coincidence)
	ranks := func(i, j int) float64 { return ordinal(n, i, j) }
	squared := func(i, j int) float64 {
		return square(levels[i] - levels[j])
	}
	return []float64{
		chanceCorrected(t.coincidence, 1, unequal),
		chanceCorrected(t.coincidence, 1, ranks),
		chanceCorrected(t.coincidence, 1, squared),
	}
}

// chanceCorrected returns 1 minus the observed disagreement divided by the expected one, where
// weight is the disagreement of two levels. For a confusion matrix, the result is Cohen's kappa
// (1960, 1968). For a matrix of coincidences, it is Krippendorff's alpha (2011, Computing
// Krippendorff's Alpha-Reliability). subtracted is taken from the number of scores in the expected
// disagreement: 0 for kappa, 1 for alpha, since alpha compares no score with itself.
func chanceCorrected(
	counts [][]float64,
	subtracted float64,
	weight func(i, j int) float64,
) float64 {
	n, rows, columns := margins(counts)
	var observed, expected float64
	for i, row := range counts {
		for j, c := range row {
			observed += float64(weight(i, j) * c)
			expected += weight(i, j) * rows[i] * columns[j] / (n - subtracted)
		}
	}
	return 1 - observed/expected
}

func unequal(i, j int) float64 { return float64(min(1, max(i-j, j-i))) }

// ordinal returns the squared distance of the levels i and j for ordinal scores. The distance is
// the number of scores between the levels, where those at i and j count half. n is the number of
// scores at each level.
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

// margins returns the sums of a square matrix: the total, the sum of each row, and the sum of
// each column.
func margins(m [][]float64) (n float64, rows, columns []float64) {
	rows = make([]float64, len(m))
	columns = make([]float64, len(m))
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

// figures computes statistics over all problems together, each with a 95 % interval by
// bootstrap.
func (c clusters) figures(
	levels []float64,
	opt Options,
	compute func(t table, levels []float64) []float64,
) []Figure {
	return bootstrap(len(c), opt, func(problems []int) []float64 {
		sum := newTable(len(levels))
		for _, i := range problems {
			sum.add(c[i])
		}
		return compute(sum, levels)
	})
}

// bootstrap computes statistics of n problems, each with a 95 % interval, which is nil for one
// problem. compute is called with the indexes of all problems, and then opt.Samples times with n
// indexes sampled with replacement. Whole problems are resampled, since attempts at one problem are
// not independent.
func bootstrap(
	n int,
	opt Options,
	compute func(problems []int) []float64,
) []Figure {
	problems := make([]int, n)
	for i := range problems {
		problems[i] = i
	}
	values := compute(problems)
	samples := make([][]float64, len(values))
	if n > 1 {
		d := dice.New(opt.Seed)
		for range opt.Samples {
			for i := range problems {
				problems[i] = d.N(n)
			}
			for i, x := range compute(problems) {
				if stats.FiniteOrNil(x) != nil {
					samples[i] = append(samples[i], x)
				}
			}
		}
	}
	figures := make([]Figure, len(values))
	for i, x := range values {
		figures[i].Value = stats.FiniteOrNil(x)
		if figures[i].Value != nil {
			figures[i].CI95 = interval(samples[i])
		}
	}
	return figures
}

// interval returns the 2.5th and the 97.5th percentile of the samples, or nil if there are none.
func interval(samples []float64) *[2]float64 {
	if len(samples) == 0 {
		return nil
	}
	slices.Sort(samples)
	low := stat.Quantile(0.025, stat.LinInterp, samples, nil)
	high := stat.Quantile(0.975, stat.LinInterp, samples, nil)
	return &[2]float64{low, high}
}
