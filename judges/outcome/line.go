package outcome

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// AppendLine appends the score line of one attempt, without its line end.
// The score has the axes that its task has, or is null.
func AppendLine(dst []byte, t *arena.Trace, o arena.Outcome) []byte {
	dst = gjson.AppendJSONString(append(dst, `{"eval_run_id":`...), t.RunID)
	dst = gjson.AppendJSONString(append(dst, `,"problem_id":`...), t.ProblemID)
	dst = AppendScores(append(dst, `,"score":`...), o.Scores)
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
