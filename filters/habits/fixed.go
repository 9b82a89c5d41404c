package habits

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// The least of three: dependence on results in any one of them is adaptivity.
var _ = listed(&All, Habit{
	Check: "fixed_habit_v4", Reason: "fixed_habit",
	Doc: "Over the agent's day nothing depends on results: one course of tools, always the first products of a list, the first of them recommended.",
	fixed: func(a *Agent) Estimate {
		return least(course(a), least(tops.Total(a).unbroken(), firsts.Total(a).ramped(0.51, 1)))
	},
})

var (
	tops = counted("openings in rank order", func(a *evidence.Attempt) (t Ratio) {
		claimsOf(a, func(i int, c *evidence.Claim) {
			if first, listed := leads(a, i, c.Act.IDs); listed && len(c.Act.IDs) > 0 {
				t.add(first)
			}
		}, evidence.ToolView, evidence.ToolMatch)
		return t
	})
	// Who compares recommends another product than the first shown at least in a quarter of
	// cases.
	firsts = counted("the first product recommended", func(a *evidence.Attempt) (t Ratio) {
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

// course is how surely one course is followed whatever comes back: one sequence of
// tools, or of what the shop is asked where as many products are opened each time.
// Models stay below three quarters, programs reach one.
func course(a *Agent) Estimate {
	return most(sequences.Total(a).ramped(0.3, 1), least(requests.Total(a).ramped(0.3, 1), breadths.Total(a).unbroken()))
}

var (
	sequences = marked("the commonest tools for the size", func(a *evidence.Attempt) []Mark {
		return []Mark{{Group: size(a), Value: sequence(a, func(evidence.Tool) bool { return true })}}
	})
	// Requests with a voucher call for the calculator, whoever acts, and the first
	// tool is chosen before there is any result.
	requests = marked("the commonest requests for the size", func(a *evidence.Attempt) []Mark {
		asks := func(t evidence.Tool) bool { return t != evidence.ToolVoucher }
		begun := evidence.ToolOther
		for i := range a.Claims {
			if begun = a.Claims[i].Act.Tool; asks(begun) {
				break
			}
		}
		return []Mark{{Group: evidence.Mix(size(a), uint64(begun)), Value: sequence(a, asks)}}
	})
	breadths = marked("attempts that open as many each time", func(a *evidence.Attempt) []Mark {
		kind, opened := 0, false
		openings(a, func(n, of int) {
			switch {
			case n >= of: // who opens all of it had no choice
			case !opened:
				kind, opened = n, true
			case kind != n:
				kind = 0
			}
		})
		if !opened {
			return nil
		}
		return []Mark{{Value: uint64(kind)}}
	})
)

// size tells requests of one size: by the number of products recommended and by
// whether the first search found anything, since even a fixed program stops where
// there is nothing.
func size(a *evidence.Attempt) uint64 {
	slots, blank, searched := 0, false, false
	for _, c := range evidence.Each(a.Claims) {
		if !searched && (c.Act.Tool == evidence.ToolFind || c.Act.Tool == evidence.ToolShop) {
			blank, searched = len(c.Shown) == 0, true
		}
		if c.Act.Tool == evidence.ToolRecommend {
			slots = len(c.Act.IDs)
		}
	}
	return evidence.Mix(uint64(slots), uint64(evidence.Flag(blank)))
}

func sequence(a *evidence.Attempt, counts func(evidence.Tool) bool) (h uint64) {
	for i := range a.Claims {
		if t := a.Claims[i].Act.Tool; counts(t) {
			h = evidence.Mix(h, uint64(t)+1)
		}
	}
	return evidence.Mix(h, 1)
}

// openings calls see with each opening or matching of products out of a list: how many
// it takes, and of how many.
func openings(a *evidence.Attempt, see func(n, of int)) {
	claimsOf(a, func(i int, c *evidence.Claim) {
		for j := i - 1; j >= 0; j-- {
			if list := &a.Claims[j]; list.Act.Tool == evidence.ToolFind && evidence.Subset(c.Act.IDs, list.Shown) {
				see(len(c.Act.IDs), len(list.Shown))
				return
			}
		}
	}, evidence.ToolView, evidence.ToolMatch)
}

var _ = listed(&All, Habit{
	Check: "fixed_plan_v4", Reason: "fixed_plan",
	Doc: "Over the agent's day searches are put together in one way, whatever came back, and the course of tools is one, or never anything is opened but the first of a list.",
	fixed: func(a *Agent) Estimate {
		return least(forms.Total(a).unbroken(), most(course(a), tops.Total(a).unbroken()))
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
