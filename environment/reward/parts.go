package reward

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

// Part is one measured property of an attempt.
type Part struct {
	Name string
	// Low and High are the range of the value before it is weighted.
	Low  float64
	High float64
	// Formula describes in one line how it is measured.
	Formula string

	measure func(*facts) float64
}

// The parts that attempts in other domains than the shop have, too.
const (
	partSuccess    = "success"
	partInvented   = "invented_ids"
	partUnreadable = "unreadable_calls"
	partRepeated   = "repeated_calls"
)

// IsMeasured reports whether the part is measured of attempts in the domain d, nil for the shop:
// success if outcomes are declared, and invented ids if a tool has arguments that are ids.
func (p *Part) IsMeasured(d *domain.Domain) bool {
	if d == nil {
		return true
	}
	switch p.Name {
	case partSuccess:
		return d.Outcome.From == domain.FromDeclared
	case partInvented:
		for _, tool := range d.Tools {
			if len(tool.IDs) > 0 {
				return true
			}
		}
		return false
	default:
		return p.Name == partUnreadable || p.Name == partRepeated
	}
}

// parts are the parts of a reward in the order in which they are summed. Except for success, the
// parts that can add to a reward are 0 until a tool has shown a requested product, so that an agent
// cannot earn a reward by browsing the shop.
var parts = []Part{
	{
		Name: partSuccess, Low: 0, High: 1, measure: measureSuccess,
		Formula: "1 where the attempt is a success by the subnet's own rules (docs/outcome.md)",
	},
	{
		Name: "judge", Low: -1, High: 0, measure: measureJudge,
		Formula: "success times what the multiplier of the reasoning judge takes: multiplier - 1; 0 without a judge",
	},
	{
		Name: "rule", Low: 0, High: 1, measure: measureRule,
		Formula: "share of the demands on the products that the recommended ones meet, once a wanted product was in view",
	},
	{
		Name: "title", Low: 0, High: 1, measure: measureTitle,
		Formula: "the same of titles",
	},
	{
		Name: "price", Low: 0, High: 1, measure: measurePrice,
		Formula: "the same of prices",
	},
	{
		Name: "service", Low: 0, High: 1, measure: measureService,
		Formula: "the same of services",
	},
	{
		Name: "sku_attrs", Low: 0, High: 1, measure: measureSKUAttrs,
		Formula: "the same of attributes and options",
	},
	{
		Name: "gold_in_view", Low: 0, High: 1, measure: measureGoldShown,
		Formula: "share of the wanted products that a tool has shown",
	},
	{
		Name: "tool_match", Low: 0, High: 1, measure: measureToolMatch,
		Formula: "F1 of the calls against those of a teacher's attempt at the problem, arguments included; 0 without a teacher",
	},
	{
		Name: partInvented, Low: 0, High: 1, measure: measureInvented,
		Formula: "share of the ids named in calls that no tool had shown before; after a lost result, shown ids alone count",
	},
	{
		Name: partUnreadable, Low: 0, High: 1, measure: measureUnreadable,
		Formula: "share of the calls that cannot be read",
	},
	{
		Name: partRepeated, Low: 0, High: 1, measure: measureRepeated,
		Formula: "share of the calls that were made before, arguments included",
	},
	{
		Name: "steps", Low: 0, High: 1, measure: measureSteps,
		Formula: "replies divided by 25, at most 1",
	},
}

// maxSteps is the maximum number of replies that a model may write in one attempt. The part "steps"
// of the reward, a cost, is the number of replies divided by it.
const maxSteps = 25

// ratio returns n / total, or 0 if total is 0.
func ratio(n, total int) float64 {
	if total == 0 {
		return 0
	}
	return float64(n) / float64(total)
}

func measureSuccess(f *facts) float64 {
	if f.attempt.Outcome.Success {
		return 1
	}
	return 0
}

func measureJudge(f *facts) float64 {
	if f.attempt.Quality == nil || !f.attempt.Outcome.Success {
		return 0
	}
	return outcome.Multiplier(*f.attempt.Quality) - 1
}

// axes returns the attempt's scores by the rules of the subnet, such as whether title and price of
// the answer are right. All are 0 if the attempt has no scores, or if no tool has shown a requested
// product: an agent must not be paid for a guess.
func (f *facts) axes() arena.Axes {
	scores := f.attempt.Outcome.Scores
	if f.goldShown == 0 || scores == nil || scores.Axes == nil {
		return arena.Axes{}
	}
	return *scores.Axes
}

func measureRule(f *facts) float64     { return f.axes().Rule }
func measureTitle(f *facts) float64    { return f.axes().Title }
func measurePrice(f *facts) float64    { return f.axes().Price }
func measureService(f *facts) float64  { return f.axes().Service }
func measureSKUAttrs(f *facts) float64 { return f.axes().SKUAttrs }

func measureGoldShown(f *facts) float64 { return f.goldShown }

// measureToolMatch returns the F1 score, 0 to 1, of the attempt's tool calls against the calls of
// the teacher's attempt at the same problem. Repeated calls count as often as they occur in both.
// It is 0 if there is no teacher, or if no tool has shown a requested product.
func measureToolMatch(f *facts) float64 {
	teacher := f.attempt.Teacher
	if f.goldShown == 0 || len(f.calls) == 0 || len(teacher) == 0 {
		return 0
	}
	unmatched := map[string]int{}
	for _, c := range teacher {
		unmatched[canonicalCall(c)]++
	}
	matched := 0
	for _, c := range f.calls {
		form := canonicalCall(c)
		if unmatched[form] > 0 {
			unmatched[form]--
			matched++
		}
	}
	return 2 * float64(matched) / float64(len(f.calls)+len(teacher))
}

func measureInvented(f *facts) float64 { return ratio(f.invented, f.named) }

func measureUnreadable(f *facts) float64 {
	unreadable := f.attempt.Unreadable
	return ratio(unreadable, len(f.calls)+unreadable)
}

func measureRepeated(f *facts) float64 { return ratio(f.repeated, len(f.calls)) }

func measureSteps(f *facts) float64 { return min(1, float64(f.replies)/maxSteps) }
