// Package stats computes confidence intervals and significance tests for rates, means and
// evaluations. All functions are deterministic.
package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Z95 is the two-sided 95 % quantile of the normal distribution.
const Z95 = 1.959963984540054

// FiniteOrNil returns a pointer to x, or nil if x is NaN or infinite.
func FiniteOrNil(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Logistic converts log-odds to a probability. It rounds the result to 12 decimals: math.Exp
// differs between processors in the last bit, and files with the result must have the same bytes
// everywhere.
func Logistic(logOdds float64) float64 {
	return math.Round(1e12/(1+math.Exp(-logOdds))) / 1e12
}

// Interval is a confidence interval, which includes both ends.
type Interval struct{ Low, High float64 }

// Wilson returns the 95 % score interval (Wilson 1927) of the rate successes/n over n
// independent trials. For n = 0 the interval is 0 to 1.
func Wilson(successes, n int) Interval {
	if n == 0 {
		return Interval{0, 1}
	}
	return WilsonRate(float64(successes)/float64(n), float64(n))
}

// WilsonRate returns the 95 % score interval of a rate p over n trials. n need not be
// an integer.
func WilsonRate(p, n float64) Interval { return scoreInterval(p, n, Z95) }

// zOneSided is the 95 % quantile of the normal distribution.
const zOneSided = 1.6448536269514722

// WilsonUpper returns the upper end of the one-sided 95 % score interval of the rate successes/n over
// n independent trials: in 95 % of samples the true rate is not above it. For n = 0 it is 1.
func WilsonUpper(successes, n int) float64 {
	if n == 0 {
		return 1
	}
	return scoreInterval(float64(successes)/float64(n), float64(n), zOneSided).High
}

// scoreInterval returns the score interval (Wilson) of a rate p, 0 to 1, over n trials. z is a
// quantile of the normal distribution, such as 1.96 for an interval of 95 %.
func scoreInterval(p, n, z float64) Interval {
	centre := (p + z*z/(2*n)) / (1 + z*z/n)
	half := float64(z / (1 + z*z/n) * math.Sqrt(float64(p*(1-p)/n)+z*z/(4*n*n)))
	interval := Interval{max(0, centre-half), min(1, centre+half)}
	if p == 0 {
		interval.Low = 0
	}
	if p == 1 {
		interval.High = 1
	}
	return interval
}

// PassAtK returns the unbiased estimate of the probability that at least one of k
// samples succeeds, from c successes in n samples: 1 - C(n-c,k)/C(n,k) (Chen et al.
// 2021). No estimate is unbiased for k > n.
func PassAtK(n, c, k int) float64 { return 1 - binomialRatio(n-c, n, k) }

// PassHatK returns the unbiased estimate of the probability that all of k <= n samples
// succeed: C(c,k)/C(n,k) (Yao et al. 2024).
func PassHatK(n, c, k int) float64 { return binomialRatio(c, n, k) }

// binomialRatio returns the ratio of binomial coefficients C(a,k)/C(n,k). It multiplies factor by
// factor, so that no intermediate result overflows.
func binomialRatio(a, n, k int) float64 {
	if a < k {
		return 0
	}
	r := 1.0
	for i := range k {
		r *= float64(a-i) / float64(n-i)
	}
	return r
}

// Mean returns the arithmetic mean, NaN if x is empty.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// ClusteredSE returns the standard error of the mean over P clusters, from the mean x of each
// cluster: sqrt(sum((x-mean)^2) / (P(P-1))). It is NaN for fewer than two clusters.
func ClusteredSE(means []float64) float64 {
	if len(means) < 2 {
		return math.NaN()
	}
	p := float64(len(means))
	mean := Mean(means)
	sum := 0.0
	for _, x := range means {
		sum += float64((x - mean) * (x - mean))
	}
	return math.Sqrt(sum / (p * (p - 1)))
}

// Ratio returns the rate sum(won)/sum(trials) over P clusters, and its linearised standard
// error: sqrt(P/(P-1) sum((won - rate trials)^2)) / sum(trials) (Cochran 1977, Sampling
// Techniques, section 6.4). If all clusters have the same number of trials, the standard error
// is ClusteredSE of their rates. Both results are NaN if there are no trials. The standard error
// is also NaN for fewer than two clusters.
func Ratio(won, trials []float64) (rate, se float64) {
	var totalWon, totalTrials, clusters float64
	for i := range trials {
		totalWon += won[i]
		totalTrials += trials[i]
		clusters += min(1, trials[i])
	}
	rate = totalWon / totalTrials

	sum := 0.0
	for i := range trials {
		residual := won[i] - float64(rate*trials[i])
		sum += float64(residual * residual)
	}
	if clusters < 2 {
		return rate, math.NaN()
	}
	return rate, math.Sqrt(clusters/(clusters-1)*sum) / totalTrials
}

// T95 returns the 95 % interval of a mean over n clusters with standard error se, by
// Student's t-distribution with n-1 degrees of freedom. Its ends are NaN for n < 2.
func T95(mean, se float64, n int) Interval {
	half := float64(t95(n) * se)
	return Interval{mean - half, mean + half}
}

// studentsT returns Student's t-distribution with n-1 degrees of freedom.
func studentsT(n int) distuv.StudentsT {
	return distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}
}

// t95 returns the two-sided 95 % quantile of Student's t-distribution with n-1 degrees of
// freedom. It returns NaN for n < 2.
func t95(n int) float64 {
	if n < 2 {
		return math.NaN()
	}
	return studentsT(n).Quantile(0.975)
}

// ClusteredWilson returns the 95 % score interval of a rate over problems with several samples
// each. It is Wilson's interval for the effective number of trials n: the number of independent
// trials that would have the same standard error se = sqrt(rate(1-rate)/n). Since se is an
// estimate over few problems, n is reduced by (z/t)^2 (Korn and Graubard 1998, Survey
// Methodology 24, do so for the exact interval). n never exceeds samples. Unlike rate ± t se,
// the interval is within 0 and 1. If no sample succeeds, or all do, each problem counts as one
// trial, so that the interval still has a width.
func ClusteredWilson(rate, se float64, problems, samples int) Interval {
	return SelectedWilson(rate, se, problems, samples, 1)
}

// SelectedWilson returns the interval of ClusteredWilson for the best of several rates. Its
// level is such that the intervals of all rates hold together in 95 % of cases (Bonferroni), so
// that it does not matter which rate was selected.
func SelectedWilson(rate, se float64, problems, samples, rates int) Interval {
	if problems < 2 {
		return Interval{0, 1}
	}
	tail := 1 - 0.025/float64(rates)
	z := distuv.UnitNormal.Quantile(tail)
	if rates == 1 {
		z = Z95
	}
	t := studentsT(problems).Quantile(tail)
	trials := float64(problems)
	if spread := rate * (1 - rate); spread > 0 {
		trials = min(float64(samples), spread/(se*se))
	}
	return scoreInterval(rate, trials*(z/t)*(z/t), z)
}
