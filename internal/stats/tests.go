package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
)

// McNemar returns the p-value of the exact two-sided test of paired rates (McNemar 1947). In b
// pairs only the first member succeeds, in c pairs only the second. The p-value is twice the
// smaller tail of Binomial(b+c, 1/2), at most 1.
func McNemar(b, c int) float64 {
	if b == c {
		return 1
	}
	n := b + c
	k := min(b, c)
	// P(X <= k) = I_{1/2}(n-k, k+1).
	return min(1, 2*mathext.RegIncBeta(float64(n-k), float64(k+1), 0.5))
}

// Holm returns the p-values adjusted for multiple comparisons (Holm 1979), in the order of p.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	floats.ArgsortStable(slices.Clone(p), order)

	adjusted := make([]float64, len(p))
	last := 0.0
	for rank, i := range order {
		last = max(last, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = last
	}
	return adjusted
}

// PairedT returns the p-value of Student's one-sided t-test that the mean of paired differences
// is above 0. If all differences are equal, it is 0 or 1. It is NaN for fewer than two
// differences.
func PairedT(differences []float64) float64 {
	mean := Mean(differences)
	se := ClusteredSE(differences)
	switch {
	case math.IsNaN(se):
		return math.NaN()
	case se == 0 && mean > 0:
		return 0
	case se == 0:
		return 1
	}
	return studentsT(len(differences)).Survival(mean / se)
}

// Spearman returns the rank correlation of pairs and its 95 % interval (Fisher's
// transformation with the variance 1.06/(n-3) of Fieller, Hartley and Pearson 1957). The
// correlation is NaN if x or y is constant. The interval is -1 to 1 for three pairs. Its ends are NaN
// for fewer, and for a correlation of 1 or -1, where the transformation is infinite.
func Spearman(x, y []float64) (float64, Interval) {
	rho := stat.Correlation(ranks(x), ranks(y), nil)
	if math.Abs(rho) > 1-1e-9 { // 1, but for rounding
		return rho, Interval{math.NaN(), math.NaN()}
	}
	half := float64(Z95 * math.Sqrt(1.06/float64(len(x)-3)))
	z := math.Atanh(rho)
	return rho, Interval{math.Tanh(z - half), math.Tanh(z + half)}
}

// ranks returns the rank of each value, counted from 1. Equal values all get the mean of their
// ranks.
func ranks(values []float64) []float64 {
	sorted := slices.Clone(values)
	order := make([]int, len(values))
	floats.Argsort(sorted, order)

	out := make([]float64, len(values))
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

// Paired is the comparison of two students on the problems on which both were scored. Its
// interval, test, power and minimum detectable difference all use one statistic: the mean
// difference by problem divided by its standard error over groups of problems. The statistic is
// compared with Student's t-distribution.
type Paired struct {
	Problems int
	// Groups is the number of groups of problems. Problems in a group are not independent.
	// Differing is the number of groups in which the students differ.
	Groups, Differing int
	// A and B are the means over problems. Difference is B - A.
	A, B, Difference float64
	// SE is the standard error of Difference. It is NaN for fewer than two groups, and 0 if the
	// difference is the same for all problems.
	SE float64
	// areShares reports whether all means of problems are from 0 to 1.
	areShares bool
	// samplesPerProblem is the harmonic mean of the samples per problem of A and B.
	samplesPerProblem float64
}

// NewPaired returns the comparison of students a and b. a and b have one mean per problem.
// samplesA and samplesB are the average numbers of samples per problem. groups has the group of
// each problem; if it is nil, each problem is a separate group.
func NewPaired(a, b []float64, samplesA, samplesB float64, groups []int) Paired {
	deltas := make([]float64, len(a))
	differs := make([]float64, len(a))
	areShares := true
	for i := range a {
		areShares = areShares && min(a[i], b[i]) >= 0 && max(a[i], b[i]) <= 1
		deltas[i] = b[i] - a[i]
		if a[i] != b[i] {
			differs[i] = 1
		}
	}
	p := Paired{
		Problems:          len(a),
		A:                 Mean(a),
		B:                 Mean(b),
		Difference:        Mean(deltas),
		areShares:         areShares,
		samplesPerProblem: 2 / (1/samplesA + 1/samplesB),
	}
	p.SE, p.Groups = GroupedSE(deltas, groups)
	for _, count := range SumByGroup(differs, groups) {
		p.Differing += int(min(1, count))
	}
	return p
}

// Interval returns the 95 % interval of Difference, which for shares is within -1 and 1. Its ends
// are NaN if SE is 0 or NaN. If P is the p-value of the sign test, the interval uses the standard
// error that would give this P, so that interval and test agree.
func (p Paired) Interval() Interval {
	if !(p.SE > 0) {
		return Interval{math.NaN(), math.NaN()}
	}
	se := p.SE
	if p.signP() > p.tP() {
		se = math.Abs(p.Difference) / studentsT(p.Groups).Quantile(1-p.signP()/2)
	}
	i := T95(p.Difference, se, p.Groups)
	if p.areShares {
		i = Interval{max(-1, i.Low), min(1, i.High)}
	}
	return i
}

// P returns the two-sided p-value of the hypothesis that there is no difference. It is at least
// 2^(1-Differing), the p-value of a sign test in which all groups that differ agree.
func (p Paired) P() float64 {
	if p.Difference == 0 || math.IsNaN(p.SE) {
		return 1
	}
	return min(1, max(p.tP(), p.signP()))
}

// tP returns the two-sided p-value of Student's test of the hypothesis that the mean difference is
// zero.
func (p Paired) tP() float64 {
	return 2 * studentsT(p.Groups).Survival(math.Abs(p.Difference)/p.SE)
}

// signP returns the smallest p-value that a two-sided sign test can have with this number of groups
// that differ: the one if all of them differ in the same direction.
func (p Paired) signP() float64 { return math.Exp2(float64(1 - p.Differing)) }

// Power returns the probability that P is at most 5 % if the true difference has this size and b
// solves the same share of a's failures on every problem. It is NaN if SE is 0 or NaN, and for means
// that are no shares, such as rewards up to 10.
func (p Paired) Power(difference float64) float64 {
	return studentsT(p.Groups).CDF(difference/p.alternativeSE(difference) - t95(p.Groups))
}

// MDE80 returns the minimum detectable effect: the smallest true difference with a Power of 80
// %. It is NaN if Power is, or if even a difference of 1 has less power.
func (p Paired) MDE80() float64 {
	if !(p.SE > 0) {
		return math.NaN()
	}
	quantiles := t95(p.Groups) + studentsT(p.Groups).Quantile(0.8)
	effect := quantiles * p.SE
	for range 50 { // the fixed point converges: each step is a fraction of the last
		effect = quantiles * p.alternativeSE(effect)
	}
	if effect > 1 {
		return math.NaN()
	}
	return effect
}

// alternativeSE returns the standard error that Difference would have if the true difference
// between the two students had this size, for a computation of power. It is not SE, for two
// reasons. The better student gains most on the problems on which the other is worst, so
// differences vary more between problems. And samples vary more for rates near one half.
func (p Paired) alternativeSE(difference float64) float64 {
	if !p.areShares || !(p.SE > 0) {
		return math.NaN()
	}
	mean := float64((p.A + p.B) / 2)
	failRate := max(mean, 1-mean) // the larger side: only there a large difference fits
	n := float64(p.Problems)
	variance := float64(failRate * (1 - failRate))
	sampleVariance := min(n*p.SE*p.SE*p.samplesPerProblem/2, variance) // mean of p(1-p) over problems
	problemVariance := variance - sampleVariance

	share := min(1, difference/failRate)
	bySamples := float64((1-share)*share*(failRate-sampleVariance)) - float64(share*sampleVariance)
	added := bySamples/p.samplesPerProblem + float64(share*share*problemVariance)
	return math.Sqrt(max(float64(p.SE*p.SE)+added/n, 0))
}

// Equivalent returns the p-value of the hypothesis that the difference is larger than the margin
// in either direction, by two one-sided tests (Schuirmann 1987). It is NaN if SE is 0 or NaN.
func (p Paired) Equivalent(margin float64) float64 {
	if !(p.SE > 0) {
		return math.NaN()
	}
	return studentsT(p.Groups).Survival((margin - math.Abs(p.Difference)) / p.SE)
}
