package reward

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/outcome"
)

// Part is one thing that is measured of an attempt.
type Part struct {
	Name string
	// Low and High are the ends of its range before it is weighed.
	Low, High float64
	// Formula says in one line how it is measured.
	Formula string
	of      func(*facts) float64
}

// manySteps is how many replies the harness of the subnet allows, and so the unit
// in which steps are counted.
const manySteps = 25

// Parts are all parts, in the order in which they are summed. Those that are no
// success are 0 until a tool has shown a wanted product: nothing is earned by
// moving about in the shop.
func Parts() []Part {
	return []Part{
		{"success", 0, 1, "1 where the attempt is a success by the subnet's own rules (docs/outcome.md)", func(f *facts) float64 { return one(f.Outcome.Success) }},
		{"judge", -1, 0, "success times what the multiplier of the reasoning judge takes: multiplier - 1; 0 without a judge", judged},
		{"rule", 0, 1, "share of the demands on the products that the recommended ones meet, once a wanted product was in view", axis(func(a *arena.Axes) float64 { return a.Rule })},
		{"title", 0, 1, "the same of titles", axis(func(a *arena.Axes) float64 { return a.Title })},
		{"price", 0, 1, "the same of prices", axis(func(a *arena.Axes) float64 { return a.Price })},
		{"service", 0, 1, "the same of services", axis(func(a *arena.Axes) float64 { return a.Service })},
		{"sku_attrs", 0, 1, "the same of attributes and options", axis(func(a *arena.Axes) float64 { return a.SKUAttrs })},
		{"gold_in_view", 0, 1, "share of the wanted products that a tool has shown", func(f *facts) float64 { return f.inView }},
		{"tool_match", 0, 1, "F1 of the calls against those of a teacher's attempt at the problem, arguments included; 0 without a teacher", teacher},
		{"invented_ids", 0, 1, "share of the product ids named in calls that no tool had shown before", func(f *facts) float64 { return share(f.invented, f.named) }},
		{"unreadable_calls", 0, 1, "share of the calls that cannot be read", func(f *facts) float64 { return share(f.Unreadable, len(f.calls)+f.Unreadable) }},
		{"repeated_calls", 0, 1, "share of the calls that were made before, arguments included", func(f *facts) float64 { return share(f.repeated, len(f.calls)) }},
		{"steps", 0, 1, "replies divided by 25, at most 1", func(f *facts) float64 { return min(1, float64(f.replies)/manySteps) }},
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func judged(f *facts) float64 {
	if f.Quality == nil || !f.Outcome.Success {
		return 0
	}
	return outcome.Multiplier(*f.Quality) - 1
}

func axis(of func(*arena.Axes) float64) func(*facts) float64 {
	return func(f *facts) float64 {
		if f.inView == 0 || f.Outcome.Scores == nil || f.Outcome.Scores.Axes == nil {
			return 0
		}
		return of(f.Outcome.Scores.Axes)
	}
}

// teacher is F1 over calls as a multiset.
func teacher(f *facts) float64 {
	if f.inView == 0 || len(f.calls) == 0 || len(f.Teacher) == 0 {
		return 0
	}
	left := map[string]int{}
	for _, c := range f.Teacher {
		left[text(c)]++
	}
	both := 0
	for _, c := range f.calls {
		if t := text(c); left[t] > 0 {
			left[t]--
			both++
		}
	}
	return 2 * float64(both) / float64(len(f.calls)+len(f.Teacher))
}
