package habits

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

var _ = habit(Habit{
	Check: "fixed_plan_v4", Reason: "fixed_plan",
	Doc: "Over the agent's day searches are put together in one way, whatever came back, and the course of tools is one, or never anything is opened but the first of a list.",
	fixed: func(a *Agent) Estimate {
		return least(forms.In(a).unbroken(), most(course(a), tops.In(a).unbroken()))
	},
})

// Models put the same kinds of words in another order at least in one search of
// ten (0.08 to 0.25 on every day measured), so a dozen searches without any say so.
var forms = marked("searches put together in one way", func(a *evidence.Attempt) (all []Mark) {
	all = make([]Mark, 0, min(len(a.Claims), maxForms))
	claimsOf(a, func(_ int, c *evidence.Claim) {
		if m, parts := form(a, c.Act.Words); parts > 1 && len(all) < maxForms {
			all = append(all, m)
		}
	}, evidence.ToolFind)
	return all
})

// maxForms bounds the searches of one attempt whose form is kept; attempts have
// some five.
const maxForms = 16

// form says which words of the request a search uses, and in what order. A word
// is told by the last one before it in the request that the search leaves out,
// and by how far that is away: "brand" before a brand, "of" before a material,
// "a" before what is sought or, with the brand between, two words before it.
// What goes on as the request does belongs to the word before; parts is how many
// words do not. Other words are part of it as such.
func form(a *evidence.Attempt, words []uint64) (m Mark, parts int) {
	request := a.Pad.Request
	order, bag, next := uint64(evidence.HashSeed), uint64(0), -1
	for _, w := range words {
		at := slices.Index(request, w)
		if at > 0 && at == next {
			next++
			continue
		}
		before := uint64(1)
		if at > 0 {
			from := at - 1
			for from > 0 && slices.Contains(words, request[from]) {
				from--
			}
			before = evidence.Mix(request[from], uint64(at-from))
		}
		order, bag, next = evidence.Mix(order, before), bag+evidence.Mix(evidence.HashSeed, before), at+1
		parts++
	}
	return Mark{Group: bag & math.MaxUint32, Value: order & math.MaxUint32}, parts
}
