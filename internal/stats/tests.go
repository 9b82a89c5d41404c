package stats

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// McNemar is the exact two-sided test of paired rates (McNemar 1947): b pairs
// in which only the first succeeds, c in which only the second does. Its p is
// twice the smaller tail of Binomial(b+c, 1/2), at most 1.
func McNemar(b, c int) float64 {
	n, k := b+c, min(b, c)
	if b == c {
		return 1
	}
	// P(X <= k) = I_{1/2}(n-k, k+1).
	return min(1, 2*mathext.RegIncBeta(float64(n-k), float64(k+1), 0.5))
}

// Holm adjusts p-values for several comparisons (Holm 1979), in the order
// given.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out := make([]float64, len(p))
	last := 0.0
	for rank, i := range order {
		last = max(last, min(1, float64(len(p)-rank)*p[i]))
		out[i] = last
	}
	return out
}
