package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
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
	order, out := make([]int, len(p)), make([]float64, len(p))
	floats.ArgsortStable(slices.Clone(p), order)
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
	half := float64(Z95 * math.Sqrt(1.06/float64(len(x)-3)))
	z := math.Atanh(rho)
	return rho, Interval{math.Tanh(z - half), math.Tanh(z + half)}
}

// ranks are those of values from 1 on; equals share the mean of theirs.
func ranks(values []float64) []float64 {
	sorted, order, out := slices.Clone(values), make([]int, len(values)), make([]float64, len(values))
	floats.Argsort(sorted, order)
	for i := 0; i < len(order); {
		end := i + 1
		for end < len(order) && sorted[end] == sorted[i] {
			end++
		}
		for _, k := range order[i:end] {
			out[k] = float64(i+1+end) / 2
		}
		i = end
	}
	return out
}

// Paired is how two students differ on problems that both were scored on. Its
// interval, test, power and smallest difference are all of the same statistic: the
// mean difference by problem over its clustered standard error, held against
// Student's distribution.
type Paired struct {
	Problems int
	// A and B are the means over problems, Difference B - A, SE its standard error:
	// NaN for fewer than two problems, 0 where all differ alike.
	A, B, Difference, SE float64
	// tries is how many samples a problem has, the harmonic mean of both sides.
	tries float64
}

// NewPaired takes one mean a problem of each student, and how many samples a
// problem each has on average.
func NewPaired(a, b []float64, samplesA, samplesB float64) Paired {
	deltas := make([]float64, len(a))
	for i := range a {
		deltas[i] = b[i] - a[i]
	}
	return Paired{len(a), Mean(a), Mean(b), Mean(deltas), ClusteredSE(deltas), 2 / (1/samplesA + 1/samplesB)}
}

// Interval is of 95 %. It is NaN where the problems show no spread: for one alone,
// or where all differ alike.
func (p Paired) Interval() Interval {
	if !(p.SE > 0) {
		return Interval{math.NaN(), math.NaN()}
	}
	return T95(p.Difference, p.SE, p.Problems)
}

// P is the two-sided p-value of no difference. It is never below that of as many
// coins that all fall on one side, which is what the smallest runs can show.
func (p Paired) P() float64 {
	if p.Difference == 0 || math.IsNaN(p.SE) {
		return 1
	}
	t := math.Abs(p.Difference) / p.SE
	return min(1, max(2*student(p.Problems).Survival(t), math.Exp2(float64(1-p.Problems))))
}

// Power is the chance that P is at most 5 % where the true difference is so large
// and comes of b solving the same share of all that a fails at. NaN without a spread.
func (p Paired) Power(difference float64) float64 {
	return student(p.Problems).CDF(difference/p.alternative(difference) - t95(p.Problems))
}

// MDE80 is the smallest true difference with a Power of 80 %: NaN without a spread,
// and where even a difference of 1 has less.
func (p Paired) MDE80() float64 {
	if !(p.SE > 0) {
		return math.NaN()
	}
	quantiles := t95(p.Problems) + student(p.Problems).Quantile(0.8)
	found := quantiles * p.SE
	for range 50 { // each step is a fraction of the last one
		found = quantiles * p.alternative(found)
	}
	if found > 1 {
		return math.NaN()
	}
	return found
}

// alternative is the standard error where the true difference is so large. A student
// who solves a share of what the other fails at differs most where the other is worst,
// and where rates move towards one half their samples scatter more.
func (p Paired) alternative(difference float64) float64 {
	if !(p.SE > 0) {
		return math.NaN()
	}
	mean := float64((p.A + p.B) / 2)
	fails := max(mean, 1-mean) // the side with room for a difference
	n, spread := float64(p.Problems), float64(fails*(1-fails))
	within := min(n*p.SE*p.SE*p.tries/2, spread) // mean of p(1-p) over problems
	share := min(1, difference/fails)
	more := (float64((1-share)*share*(fails-within))-float64(share*within))/p.tries + float64(share*share*(spread-within))
	return math.Sqrt(max(float64(p.SE*p.SE)+more/n, 0))
}

// Equivalent is the p-value of a difference beyond the margin on either side: two
// one-sided tests (Schuirmann 1987). NaN without a spread.
func (p Paired) Equivalent(margin float64) float64 {
	if !(p.SE > 0) {
		return math.NaN()
	}
	return student(p.Problems).Survival((margin - math.Abs(p.Difference)) / p.SE)
}
