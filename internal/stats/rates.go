// Package stats holds the intervals and tests that shares, means and evaluations
// are reported with. All of it is deterministic: what draws at random takes a
// seed.
package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Z95 is the two-sided 95 % quantile of the normal distribution.
const Z95 = 1.959963984540054

// Known is nil for what could not be computed.
func Known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Logistic is the probability, 0 to 1, of log odds. It is rounded to 12 decimals, since
// the exponentials of processors differ in their last bit and files are to be the same.
func Logistic(odds float64) float64 { return math.Round(1e12/(1+math.Exp(-odds))) / 1e12 }

// Interval is a confidence interval, both ends included.
type Interval struct{ Low, High float64 }

// Wilson is the 95 % score interval of a single rate (Wilson 1927): successes
// of n independent trials. With n = 0 nothing is known: 0 to 1.
func Wilson(successes, n int) Interval {
	if n == 0 {
		return Interval{0, 1}
	}
	return WilsonOf(float64(successes)/float64(n), float64(n))
}

// WilsonOf is the score interval of a rate p in n trials, which need not be whole.
func WilsonOf(p, n float64) Interval {
	centre := (p + Z95*Z95/(2*n)) / (1 + Z95*Z95/n)
	half := float64(Z95 / (1 + Z95*Z95/n) * math.Sqrt(float64(p*(1-p)/n)+Z95*Z95/(4*n*n)))
	interval := Interval{max(0, centre-half), min(1, centre+half)}
	if p == 0 {
		interval.Low = 0
	}
	if p == 1 {
		interval.High = 1
	}
	return interval
}

// PassAtK is the unbiased estimate of the chance that at least one of k
// samples succeeds, from c successes of n: 1 - C(n-c,k)/C(n,k) (Chen et al.
// 2021). No estimate is unbiased for k > n.
func PassAtK(n, c, k int) float64 { return 1 - choose(n-c, n, k) }

// PassHatK is the unbiased estimate of the chance that all of k <= n samples
// succeed: C(c,k)/C(n,k) (Yao et al. 2024).
func PassHatK(n, c, k int) float64 { return choose(c, n, k) }

// choose is C(a,k)/C(n,k), as a product so that nothing overflows.
func choose(a, n, k int) float64 {
	if a < k {
		return 0
	}
	r := 1.0
	for i := range k {
		r *= float64(a-i) / float64(n-i)
	}
	return r
}

// Mean is the arithmetic mean; NaN of nothing.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// ClusteredSE is the standard error of the mean over clusters from one mean a
// cluster: sqrt(sum((x-mean)^2) / (P(P-1))). NaN for fewer than two.
func ClusteredSE(means []float64) float64 {
	p := float64(len(means))
	if len(means) < 2 {
		return math.NaN()
	}
	m, sum := Mean(means), 0.0
	for _, x := range means {
		sum += float64((x - m) * (x - m))
	}
	return math.Sqrt(sum / (p * (p - 1)))
}

// Ratio is the rate sum(won)/sum(of) over clusters with its standard error,
// linearised: sqrt(P/(P-1) sum((won - rate of)^2)) / sum(of) (Cochran 1977,
// Sampling Techniques, section 6.4). Where every cluster has as many trials that is
// ClusteredSE of their rates. Both are NaN where nothing was tried, the error also
// for fewer than two clusters.
func Ratio(won, of []float64) (rate, se float64) {
	wins, trials, sum, clusters := 0.0, 0.0, 0.0, 0.0
	for i := range of {
		wins, trials = wins+won[i], trials+of[i]
		clusters += min(1, of[i])
	}
	rate = wins / trials
	for i := range of {
		off := won[i] - float64(rate*of[i])
		sum += float64(off * off)
	}
	if clusters < 2 {
		return rate, math.NaN()
	}
	return rate, math.Sqrt(clusters/(clusters-1)*sum) / trials
}

// T95 is the 95 % interval of a mean over n clusters with its standard error, by
// Student's distribution with n-1 degrees of freedom. NaN for fewer than two.
func T95(mean, se float64, n int) Interval {
	half := float64(t95(n) * se)
	return Interval{mean - half, mean + half}
}

func student(n int) distuv.StudentsT { return distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)} }

// t95 is the two-sided 95 % quantile of Student's distribution with n-1 degrees
// of freedom; NaN for fewer than two.
func t95(n int) float64 {
	if n < 2 {
		return math.NaN()
	}
	return student(n).Quantile(0.975)
}

// ClusteredWilson is the score interval of a rate over problems of several
// samples each: Wilson's for the number of independent trials that would have
// the same standard error, se = sqrt(rate(1-rate)/n), made smaller by (z/t)^2
// because se is itself an estimate over so many problems (Korn and Graubard
// 1998, Survey Methodology 24, do so for the exact interval). Unlike rate ± t se
// it stays within 0 and 1 and has a width where no sample succeeds, or all do:
// problems then count as one trial each. Trials are never more than samples.
func ClusteredWilson(rate, se float64, problems, samples int) Interval {
	t := t95(problems)
	if math.IsNaN(t) {
		return Interval{0, 1}
	}
	trials := float64(problems)
	if spread := rate * (1 - rate); spread > 0 {
		trials = min(float64(samples), spread/(se*se))
	}
	return WilsonOf(rate, trials*(Z95/t)*(Z95/t))
}
