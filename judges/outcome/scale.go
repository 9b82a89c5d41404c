package outcome

import (
	"fmt"
	"math"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/python"
)

// AppendLine appends the score line of one attempt, without its line end. The score
// has the axes of its task, or is null.
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

// Scale is the factor on a success by its reasoning quality: Floor at quality 0,
// then linear up to 1 at Ceiling. Floor is 0 to 1, Ceiling more than 0 and at most 1.
type Scale struct {
	// Floor is the factor at grade 0.
	Floor float64 `json:"floor" yaml:"floor"`
	// Ceiling is the grade from which the factor is 1.
	Ceiling float64 `json:"ceiling" yaml:"ceiling"`
}

// SubnetScale returns the scale that the subnet pays by [oro scoring].
func SubnetScale() Scale { return Scale{Floor: 0.3, Ceiling: 0.80} }

// Multiplier converts a reasoning quality of 0 to 1 to a factor, Floor to 1, rounded
// to four places. Values outside 0 to 1 are clamped, NaN is 0.
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

// Multiplier converts a mean reasoning quality of 0 to 1 to the subnet's factor on
// the success rate, 0.3 to 1.
func Multiplier(q float64) float64 { return SubnetScale().Multiplier(q) }

// FinalScore returns the success rate times the multiplier of the mean quality,
// rounded to four places.
func FinalScore(successRate, q float64) float64 {
	return python.Round(successRate*Multiplier(q), 4)
}
