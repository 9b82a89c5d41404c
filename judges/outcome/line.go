package outcome

import (
	"encoding/json"
	"strconv"

	"github.com/trajectory-arena/arena"
)

// AppendLine appends the score line of one attempt, without its line end.
// The score has the axes that its task has, or is null.
func AppendLine(dst []byte, t *arena.Trace, o arena.Outcome) []byte {
	dst = append(dst, `{"eval_run_id":`...)
	dst = appendString(dst, t.RunID)
	dst = append(dst, `,"problem_id":`...)
	dst = appendString(dst, t.ProblemID)
	dst = append(dst, `,"score":`...)
	dst = AppendScores(dst, o.Scores)
	dst = append(dst, `,"success":`...)
	dst = strconv.AppendBool(dst, o.Success)
	dst = append(dst, `,"error":`...)
	if o.Error == "" {
		dst = append(dst, "null"...)
	} else {
		dst = appendString(dst, o.Error)
	}
	return append(dst, '}')
}

// AppendScores appends the JSON object of one score, null for nil.
func AppendScores(dst []byte, s *arena.Scores) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"length":`...)
	dst = appendNumber(dst, s.Length)
	dst = append(dst, `,"format":`...)
	dst = appendNumber(dst, s.Format)
	if s.Axes != nil {
		dst = appendAxes(dst, s.Axes)
	}
	return append(dst, '}')
}

func appendAxes(dst []byte, a *arena.Axes) []byte {
	for _, axis := range []struct {
		name  string
		score float64
	}{
		{"product", a.Product}, {"gt", a.GT}, {"rule", a.Rule}, {"title", a.Title},
		{"price", a.Price}, {"service", a.Service}, {"sku & attrs", a.SKUAttrs},
	} {
		dst = append(dst, `,"`+axis.name+`":`...)
		dst = appendNumber(dst, axis.score)
	}
	if a.Shop != nil {
		dst = strconv.AppendInt(append(dst, `,"shop":`...), int64(*a.Shop), 10)
	}
	if a.Budget != nil {
		dst = strconv.AppendInt(append(dst, `,"budget":`...), int64(*a.Budget), 10)
	}
	return dst
}

func appendNumber(dst []byte, x float64) []byte {
	return strconv.AppendFloat(dst, x, 'g', -1, 64)
}

func appendString(dst []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		return append(dst, `""`...)
	}
	return append(dst, text...)
}
