package stats

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/trajectory-arena/arena/internal/long"
)

// More simulations than a test run should pay for print the table of
// docs/evaluation.md: go test -v -run Cover ./internal/stats -simulations 20000.
var simulations = flag.Int("simulations", 600, "runs that are simulated for the coverage of intervals")

// design is a run to simulate: problems whose difficulties are drawn from
// Beta(a, b), and so many samples of each. With spread the mean of that
// distribution, the truth, is another in every run, by at most so much: counts
// move in steps, and how they lie to one truth is chance.
type design struct {
	problems, samples int
	a, b, spread      float64
}

// draws is the rounds of the bootstrap in simulations, fewer than a run's; the
// interval's level does not depend on them.
const draws = 999

func TestIntervalsCover(t *testing.T) {
	if !long.Tests {
		t.Skip("a simulation of thousands of runs: go test -tags long")
	}
	t.Parallel()
	designs := []design{
		{120, 4, 2, 3, 0}, {75, 1, 2, 3, 0}, {75, 8, 2, 3, 0}, {250, 4, 2, 3, 0}, {30, 4, 2, 3, 0}, {75, 4, 0.5, 4.5, 0},
		{75, 1, 2, 3, 0.1}, {30, 4, 2, 3, 0.1},
	}
	if *simulations <= 1000 {
		designs = designs[:1]
	}
	for _, d := range designs {
		shares := cover(d, *simulations)
		t.Logf("%+v: mean: clustered Wilson %.4f, bootstrap %.4f; difference: t %.4f, bootstrap %.4f; Wilson on sample 0 %.4f", d, shares[0], shares[1], shares[2], shares[3], shares[4])
		// One point is the promise; the rest is three standard errors of a share
		// of 0.95 over the simulations.
		allowed := 0.01 + 3*math.Sqrt(0.95*0.05/float64(*simulations))
		for i, share := range shares {
			if d == designs[0] && math.Abs(share-0.95) > allowed {
				t.Errorf("interval %d covers %.4f of %+v", i, share, d)
			}
		}
	}
}

// cover is the share of simulated runs whose intervals hold the truth: clustered
// Wilson and bootstrap of the mean, t and bootstrap of the difference of two
// equal students, Wilson of the first samples alone.
func cover(d design, rounds int) [5]float64 {
	source := rand.NewPCG(1, uint64(d.problems))
	random := rand.New(source)
	var hits [5]int
	for round := range rounds {
		truth := d.a / (d.a + d.b)
		if d.spread > 0 {
			truth += d.spread * (2*random.Float64() - 1)
		}
		difficulty := distuv.Beta{Alpha: truth * (d.a + d.b), Beta: (1 - truth) * (d.a + d.b), Src: source}
		rates, deltas, first := make([]float64, d.problems), make([]float64, d.problems), 0
		for i := range rates {
			p := difficulty.Rand()
			rates[i] = won(random, p, d.samples)
			deltas[i] = won(random, p, d.samples) - rates[i]
			if random.Float64() < p {
				first++
			}
		}
		seed := uint64(round)
		for i, holds := range [5]bool{
			ClusteredWilson(Mean(rates), ClusteredSE(rates), d.problems, d.problems*d.samples).holds(truth), Bootstrap95(rates, seed, draws).holds(truth),
			T95(Mean(deltas), ClusteredSE(deltas), d.problems).holds(0), Bootstrap95(deltas, seed, draws).holds(0), Wilson(first, d.problems).holds(truth),
		} {
			if holds {
				hits[i]++
			}
		}
	}
	var shares [5]float64
	for i, n := range hits {
		shares[i] = float64(n) / float64(rounds)
	}
	return shares
}

func (i Interval) holds(truth float64) bool { return i.Low <= truth && truth <= i.High }

// won is the share of samples that succeed with chance p.
func won(random *rand.Rand, p float64, samples int) float64 {
	n := 0
	for range samples {
		if random.Float64() < p {
			n++
		}
	}
	return float64(n) / float64(samples)
}
