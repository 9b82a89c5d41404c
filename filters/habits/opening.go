package habits

import "github.com/trajectory-arena/arena/filters/evidence"

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
