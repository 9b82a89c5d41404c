package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Bootstrap95 is the percentile interval of the mean over clusters (Efron
// 1979): clusters are drawn with replacement, rounds times. The same seed
// gives the same interval. NaN of nothing.
func Bootstrap95(means []float64, seed uint64, rounds int) Interval {
	if len(means) == 0 || rounds < 1 {
		return Interval{math.NaN(), math.NaN()}
	}
	random := rand.New(rand.NewPCG(seed, uint64(len(means)))) //nolint:forbidigo // seeded: the same numbers every time
	drawn := make([]float64, rounds)
	for i := range drawn {
		sum := 0.0
		for range means {
			sum += means[random.IntN(len(means))]
		}
		drawn[i] = sum / float64(len(means))
	}
	slices.Sort(drawn)
	return Interval{quantile(drawn, 0.025), quantile(drawn, 0.975)}
}

// quantile interpolates linearly between order statistics.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
