package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
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

// Spearman is the rank correlation of pairs with its 95 % interval (Fisher's
// transformation with the variance 1.06/(n-3) of Fieller, Hartley and Pearson
// 1957). NaN where either never varies; the interval is -1 to 1 for fewer than
// four.
func Spearman(x, y []float64) (float64, Interval) {
	rho := stat.Correlation(ranks(x), ranks(y), nil)
	if len(x) < 4 {
		return rho, Interval{-1, 1}
	}
	half := Z95 * math.Sqrt(1.06/float64(len(x)-3))
	z := math.Atanh(rho)
	return rho, Interval{math.Tanh(z - half), math.Tanh(z + half)}
}

// ranks are those of values from 1 on; equals share the mean of theirs.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	out := make([]float64, len(values))
	for i := 0; i < len(order); {
		end := i + 1
		for end < len(order) && values[order[end]] == values[order[i]] {
			end++
		}
		for k := i; k < end; k++ {
			out[order[k]] = float64(i+1+end) / 2
		}
		i = end
	}
	return out
}
