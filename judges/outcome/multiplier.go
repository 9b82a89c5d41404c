package outcome

import (
	"math"
	"strconv"
)

// The subnet pays success by the quality of reasoning: a share of floor is
// paid for none, all of it from the ceiling on [oro scoring].
const (
	qualityFloor   = 0.3
	qualityCeiling = 0.80
)

// Multiplier turns a mean reasoning quality of 0 to 1 into the factor on the
// success rate, 0.3 to 1, rounded to four places. Values outside 0 to 1 count
// as the nearer end, NaN as 0.
func Multiplier(q float64) float64 {
	if math.IsNaN(q) {
		q = 0
	}
	q = max(0, min(1, q))
	if q >= qualityCeiling {
		return 1
	}
	return round4(qualityFloor + q*(1-qualityFloor)/qualityCeiling)
}

// FinalScore is the success rate times the multiplier of the mean quality,
// rounded to four places.
func FinalScore(successRate, q float64) float64 {
	return round4(successRate * Multiplier(q))
}

// round4 rounds the decimal expansion of x, as Python's round does.
func round4(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', 4, 64), 64)
	if err != nil {
		return x
	}
	return y
}
