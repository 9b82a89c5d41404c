package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

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
