package agreement

import "math"

// A statistic that is not defined is NaN in here and null in a report.

// pairStatistics are exact agreement, kappa, weighted kappa, bias and the
// three alphas.
func pairStatistics(t table, levels []float64) []float64 {
	n, exact, bias := 0.0, 0.0, 0.0
	for i, row := range t.confusion {
		exact += row[i]
		for j, c := range row {
			n += c
			bias += c * (levels[j] - levels[i])
		}
	}
	first := []float64{
		exact / n,
		kappa(t.confusion, func(i, j int) float64 { return unequal(i, j) }),
		kappa(t.confusion, func(i, j int) float64 { return square(levels[i] - levels[j]) }),
		bias / n,
	}
	return append(first, alphas(t, levels)...)
}

// kappa is Cohen's, 1 - observed/expected disagreement under a weight (Cohen
// 1960, 1968).
func kappa(confusion [][]float64, weight func(i, j int) float64) float64 {
	n, rows, columns := margins(confusion)
	var observed, expected float64
	for i, row := range confusion {
		for j, c := range row {
			observed += weight(i, j) * c
			expected += weight(i, j) * rows[i] * columns[j] / n
		}
	}
	return 1 - observed/expected
}

// alphas are Krippendorff's for nominal, ordinal and interval scores.
func alphas(t table, levels []float64) []float64 {
	_, n, _ := margins(t.coincidence)
	return []float64{
		alpha(t.coincidence, unequal),
		alpha(t.coincidence, func(i, j int) float64 { return ordinal(n, i, j) }),
		alpha(t.coincidence, func(i, j int) float64 { return square(levels[i] - levels[j]) }),
	}
}

// alpha is 1 - observed/expected disagreement over coincidences (Krippendorff
// 2011, Computing Krippendorff's Alpha-Reliability).
func alpha(coincidence [][]float64, distance func(i, j int) float64) float64 {
	n, rows, _ := margins(coincidence)
	var observed, expected float64
	for i, row := range coincidence {
		for j, c := range row {
			observed += distance(i, j) * c
			expected += distance(i, j) * rows[i] * rows[j] / (n - 1)
		}
	}
	return 1 - observed/expected
}

func unequal(i, j int) float64 {
	if i == j {
		return 0
	}
	return 1
}

// ordinal is the squared number of scores that lie between two levels, each
// end counting half.
func ordinal(n []float64, i, j int) float64 {
	i, j = min(i, j), max(i, j)
	between := -(n[i] + n[j]) / 2
	for g := i; g <= j; g++ {
		between += n[g]
	}
	if i == j {
		return 0
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

func defined(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
