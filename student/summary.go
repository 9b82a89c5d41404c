package student

import "math"

// passAt are the k that are reported, as far as there are samples.
var passAt = []int{1, 2, 4, 8}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func rateOf(a, b int) *float64 {
	if b == 0 {
		return nil
	}
	return known(float64(a) / float64(b))
}

// known is nil for what could not be computed.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
