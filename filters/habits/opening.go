package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// opening is a call that opens or matches products, with the newest list that holds
// them.
type opening struct {
	at   int
	ids  []string
	list *evidence.Claim
}

// openings calls see with each opening of products out of a list.
func openings(a *evidence.Attempt, see func(opening)) {
	claimsOf(a, func(i int, c *evidence.Claim) {
		for j := i - 1; j >= 0; j-- {
			if list := &a.Claims[j]; list.Act.Tool == evidence.ToolFind && evidence.Subset(c.Act.IDs, list.Shown) {
				see(opening{i, c.Act.IDs, list})
				return
			}
		}
	}, evidence.ToolView, evidence.ToolMatch)
}

// leadsBack reports whether an opening is followed, in a later turn, by another one or
// by a search that shares half of its words with the one before.
func leadsBack(a *evidence.Attempt, o opening) bool {
	for j := o.at + 1; j < len(a.Claims); j++ {
		next := &a.Claims[j]
		if next.Turn == a.Claims[o.at].Turn || !next.Act.Tool.Catalogue() {
			continue
		}
		return next.Act.Tool != evidence.ToolFind || related(o.list.Act.Words, next.Act.Words)
	}
	return false
}

// related reports whether two searches share at least half of the shorter one's words.
func related(a, b []uint64) bool {
	shared := 0
	for _, w := range a {
		shared += int(evidence.Flag(slices.Contains(b, w)))
	}
	return 2*shared >= min(len(a), len(b))
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
