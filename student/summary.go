package student

import "math"

func rateOf(a, b int) *float64 { return known(float64(a) / float64(b)) }

// known is nil for what could not be computed.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
