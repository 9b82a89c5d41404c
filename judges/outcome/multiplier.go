package outcome

import (
	"math"

	"github.com/trajectory-arena/arena/internal/python"
)

// Scale is how much of a success its reasoning quality earns: a share of Floor
// for none, all of it from Ceiling on. Floor is 0 to 1, Ceiling more than 0 and
// at most 1.
type Scale struct {
	// Floor is the factor at grade 0.
	Floor float64 `json:"floor" yaml:"floor"`
	// Ceiling is the grade from which the factor is 1.
	Ceiling float64 `json:"ceiling" yaml:"ceiling"`
}

// SubnetScale is what the subnet pays [oro scoring].
func SubnetScale() Scale { return Scale{Floor: 0.3, Ceiling: 0.80} }

// Multiplier turns a reasoning quality of 0 to 1 into a factor, Floor to 1,
// rounded to four places. Values outside 0 to 1 count as the nearer end, NaN as
// 0.
func (s Scale) Multiplier(q float64) float64 {
	if math.IsNaN(q) {
		q = 0
	}
	q = max(0, min(1, q))
	if q >= s.Ceiling {
		return 1
	}
	return python.Round(s.Floor+q*(1-s.Floor)/s.Ceiling, 4)
}

// Multiplier turns a mean reasoning quality of 0 to 1 into the subnet's factor
// on the success rate, 0.3 to 1.
func Multiplier(q float64) float64 { return SubnetScale().Multiplier(q) }

// FinalScore is the success rate times the multiplier of the mean quality,
// rounded to four places.
func FinalScore(successRate, q float64) float64 {
	return python.Round(successRate*Multiplier(q), 4)
}
