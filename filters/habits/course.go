package habits

import "github.com/trajectory-arena/arena/filters/evidence"

// course is how surely one course is followed whatever comes back: one sequence of
// tools, or of what the shop is asked where as many products are opened each time,
// or always the same number of products to open and no way back from them. Models
// stay below three quarters, programs reach one. Those that always open three go
// back when these disappoint (in 0.07 to 0.41 of openings), and those that never
// go back open now one, now four.
func course(a *Agent) Estimate {
	return most(oneWay(a), onward.In(a).unbroken())
}

// oneWay is course without the last of the three.
func oneWay(a *Agent) Estimate {
	return most(sequences.In(a).ramped(0.3, 1), least(requests.In(a).ramped(0.3, 1), breadths.In(a).unbroken()))
}

var (
	sequences = marked("the commonest tools for the size", func(a *evidence.Attempt) []Mark {
		return []Mark{{size(a), sequence(a, func(evidence.Tool) bool { return true })}}
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
		return []Mark{{evidence.Mix(size(a), uint64(begun)), sequence(a, asks)}}
	})
	breadths = marked("attempts that open as many each time", func(a *evidence.Attempt) []Mark {
		return same(a, func(n, of int, _ bool) (int, bool) { return n, n < of })
	})
	// Who opens one at a time shows no habit by it: small models do.
	onward = marked("attempts that open as many and never go back", func(a *evidence.Attempt) []Mark {
		return same(a, func(n, of int, back bool) (int, bool) {
			if back || n < 2 {
				n = 0
			}
			return n, n < of
		})
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

// same is the number of products that every opening out of a list takes, no kind
// where it is not one number, nothing where no list was opened so.
func same(a *evidence.Attempt, taken func(n, of int, back bool) (int, bool)) []Mark {
	kind, any := 0, false
	openings(a, func(o opening) {
		n, counts := taken(len(o.ids), len(o.list.Shown), leadsBack(a, o))
		switch {
		case !counts:
		case !any:
			kind, any = n, true
		case kind != n:
			kind = 0
		}
	})
	if !any {
		return nil
	}
	return []Mark{{0, uint64(kind)}}
}
