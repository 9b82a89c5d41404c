package stats

import (
	"cmp"
	"math"
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

// PairedT is the p-value of Student's one-sided test that differences of pairs
// are above 0 on average. Differences that are all the same are above 0 for
// certain, or not. NaN for fewer than two.
func PairedT(differences []float64) float64 {
	mean, se := Mean(differences), ClusteredSE(differences)
	switch {
	case math.IsNaN(se):
		return math.NaN()
	case se == 0 && mean > 0:
		return 0
	case se == 0:
		return 1
	}
	return student(len(differences)).Survival(mean / se)
}
