package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// The least of three: dependence on results in any one of them is adaptivity.
var _ = habit(Habit{
	Check: "fixed_habit_v4", Reason: "fixed_habit",
	Doc: "Over the agent's day nothing depends on results: one course of tools, always the first products of a list, the first of them recommended.",
	fixed: func(a *Agent) Estimate {
		return least(course(a), least(tops.In(a).unbroken(), firsts.In(a).ramped(0.51, 1)))
	},
})

var (
	tops = counted("openings in rank order", func(a *evidence.Attempt) (t Tally) {
		claimsOf(a, func(i int, c *evidence.Claim) {
			if first, listed := leads(a, i, c.Act.IDs); listed && len(c.Act.IDs) > 0 {
				t.add(first)
			}
		}, evidence.ToolView, evidence.ToolMatch)
		return t
	})
	// Who compares recommends another product than the first shown at least in a quarter of
	// cases.
	firsts = counted("the first product recommended", func(a *evidence.Attempt) (t Tally) {
		claimsOf(a, func(i int, c *evidence.Claim) {
			top, _ := leads(a, i, c.Act.IDs)
			for _, id := range c.Act.IDs {
				if known, first := ranked(a, i, id); known {
					t.add(first || top)
				}
			}
		}, evidence.ToolRecommend)
		return t
	})
)

// ranked reports whether a list before the claim shows the product, and shows it first.
func ranked(a *evidence.Attempt, before int, id string) (shown, first bool) {
	claimsOf(a, func(i int, c *evidence.Claim) {
		if i < before {
			at := slices.Index(c.Shown, id)
			shown, first = shown || at >= 0, first || at == 0
		}
	}, evidence.ToolFind)
	return shown, first
}

// leads reports whether ids are the first ones of a list before the claim, if any is
// there. Their own order does not count: a program shuffles for nothing.
func leads(a *evidence.Attempt, before int, ids []string) (first, listed bool) {
	claimsOf(a, func(i int, c *evidence.Claim) {
		if i < before && len(c.Shown) > 0 {
			listed = true
			first = first || len(ids) <= len(c.Shown) && evidence.SameIDs(c.Shown[:len(ids)], ids)
		}
	}, evidence.ToolFind)
	return first, listed
}
