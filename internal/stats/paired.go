package stats

import "math"

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
	mean := (p.A + p.B) / 2
	fails := max(mean, 1-mean) // the side with room for a difference
	n, spread := float64(p.Problems), fails*(1-fails)
	within := min(n*p.SE*p.SE*p.tries/2, spread) // mean of p(1-p) over problems
	share := min(1, difference/fails)
	more := ((1-share)*share*(fails-within)-share*within)/p.tries + share*share*(spread-within)
	return math.Sqrt(max(p.SE*p.SE+more/n, 0))
}

// Equivalent is the p-value of a difference beyond the margin on either side: two
// one-sided tests (Schuirmann 1987). NaN without a spread.
func (p Paired) Equivalent(margin float64) float64 {
	if !(p.SE > 0) {
		return math.NaN()
	}
	return student(p.Problems).Survival((margin - math.Abs(p.Difference)) / p.SE)
}
