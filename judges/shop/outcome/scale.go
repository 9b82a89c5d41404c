package outcome

import (
	"fmt"
	"math"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/python"
)

// AppendLine appends the JSON line with the score of one attempt, without a line break. The
// score has the axes of the attempt's task, or is null.
func AppendLine(
	dst []byte,
	t *arena.Trace,
	o arena.Outcome,
) []byte {
	dst = append(dst, `{"eval_run_id":`...)
	dst = gjson.AppendJSONString(dst, t.RunID)
	dst = append(dst, `,"problem_id":`...)
	dst = gjson.AppendJSONString(dst, t.ProblemID)
	dst = append(dst, `,"score":`...)
	dst = AppendScores(dst, o.Scores)
	dst = fmt.Appendf(dst, `,"success":%t,"error":`, o.Success)
	if o.Error == "" {
		return append(dst, "null}"...)
	}
	return append(gjson.AppendJSONString(dst, o.Error), '}')
}

// AppendScores appends the JSON object of one score, null for nil.
func AppendScores(dst []byte, s *arena.Scores) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	dst = fmt.Appendf(dst, `{"length":%v,"format":%v`, s.Length, s.Format)
	if a := s.Axes; a != nil {
		dst = fmt.Appendf(dst, `,"product":%v,"gt":%v,"rule":%v,"title":%v,"price":%v,"service":%v,"sku & attrs":%v`,
			a.Product, a.GT, a.Rule, a.Title, a.Price, a.Service, a.SKUAttrs)
		if a.Shop != nil {
			dst = fmt.Appendf(dst, `,"shop":%d`, *a.Shop)
		}
		if a.Budget != nil {
			dst = fmt.Appendf(dst, `,"budget":%d`, *a.Budget)
		}
	}
	return append(dst, '}')
}

// Scale is a conversion of a reasoning quality to the factor by which a success is paid. The
// factor is Floor at quality 0 and rises linearly to 1 at Ceiling. Floor is from 0 to 1. Ceiling
// is above 0 and at most 1.
type Scale struct {
	// Floor is the factor for quality 0.
	Floor float64 `json:"floor" yaml:"floor"`
	// Ceiling is the quality from which the factor is 1.
	Ceiling float64 `json:"ceiling" yaml:"ceiling"`
}

// SubnetScale returns the scale by which the subnet pays [oro scoring].
func SubnetScale() Scale { return Scale{Floor: 0.3, Ceiling: 0.80} }

// Multiplier converts a reasoning quality from 0 to 1 to a factor from Floor to 1, rounded to
// four decimals. Values outside of 0 to 1 are clamped, and NaN counts as 0.
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

// Multiplier converts a mean reasoning quality from 0 to 1 to the subnet's factor on the success
// rate, from 0.3 to 1.
func Multiplier(q float64) float64 { return SubnetScale().Multiplier(q) }

// FinalScore returns the success rate times the subnet's factor for the mean quality, rounded to
// four decimals.
func FinalScore(successRate, q float64) float64 {
	return python.Round(successRate*Multiplier(q), 4)
}
