package stats

import "math"

// SumByGroup returns the sum of the values of each group, in the order in which groups first
// occur. groups has the group of each value. If groups is nil, each value is a separate group.
func SumByGroup(values []float64, groups []int) []float64 {
	if groups == nil {
		return values
	}
	var sums []float64
	index := map[int]int{}
	for i, g := range groups {
		at, known := index[g]
		if !known {
			at = len(sums)
			index[g] = at
			sums = append(sums, 0)
		}
		sums[at] += values[i]
	}
	return sums
}

// GroupedSE returns the standard error of the mean of values, and the number G of groups:
// sqrt(G/(G-1) sum((sum of a group's residuals)^2)) / n. Values of the same group need not be
// independent. If each value is a separate group, it is ClusteredSE. It is NaN for fewer than
// two groups.
func GroupedSE(values []float64, groups []int) (se float64, n int) {
	ones := make([]float64, len(values))
	for i := range ones {
		ones[i] = 1
	}
	sums := SumByGroup(values, groups)
	if len(sums) == len(values) {
		return ClusteredSE(values), len(values)
	}
	_, se = Ratio(sums, SumByGroup(ones, groups))
	return se, len(sums)
}

// Components divides the variance of success into the variance between problems and the variance
// between samples of one problem. won and samples have the successes and samples of each
// problem. Both results are NaN if no problem has two samples or if there are fewer than two
// problems.
func Components(won, samples []float64) (between, within float64) {
	var rates []float64
	var sum, inverse, several float64
	for i, n := range samples {
		if n == 0 {
			continue
		}
		rate := won[i] / n
		rates = append(rates, rate)
		inverse += 1 / n
		if n > 1 {
			sum += float64(rate * (1 - rate) * n / (n - 1))
			several++
		}
	}
	if several == 0 || len(rates) < 2 {
		return math.NaN(), math.NaN()
	}
	problems := float64(len(rates))
	within = sum / several
	se := ClusteredSE(rates)
	total := float64(se * se * problems)
	return max(0, total-float64(within*inverse/problems)), within
}
