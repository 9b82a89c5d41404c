package habits

import "github.com/trajectory-arena/arena/filters/evidence"

// course is how surely one course is followed whatever comes back: one sequence of
// tools, or of what the shop is asked where as many products are opened each time.
// Models stay below three quarters, programs reach one.
func course(a *Agent) Estimate {
	return most(sequences.In(a).ramped(0.3, 1), least(requests.In(a).ramped(0.3, 1), breadths.In(a).unbroken()))
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
	for i := range a.Claims {
		c := &a.Claims[i]
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
