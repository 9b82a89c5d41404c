package evidence

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Claim is one call of the dialogue, compared with the log of the proxy.
type Claim struct {
	Call *arena.Call
	Act  Act
	// Listing contains what the result shows. It is empty for product details that the
	// proxy returned unchanged: their products are those of the call.
	Listing
	// Dispatch is the index of the first dispatch of this call, -1 if none.
	Dispatch int
	// Phantom reports whether no dispatch returned the result, Edited whether it differs
	// from what was returned.
	Phantom bool
	Edited  bool
}

// readClaims returns the calls of the dialogue, MaxCalls at most.
func readClaims(d *arena.Dialogue, s *scratch) []Claim {
	claims := s.claims
	for i := range d.Turns {
		for j := range d.Turns[i].Calls {
			if len(claims) == MaxCalls {
				break
			}
			c := Claim{
				Call:     &d.Turns[i].Calls[j],
				Dispatch: -1,
			}
			c.Act.read(
				s,
				s.roleFor(c.Call.Name),
				c.Call.Arguments,
				false,
			)
			claims = append(claims, c)
		}
	}
	s.claims = claims
	return claims
}

// claimRelations are the relations by which a call of the dialogue claims a dispatch, the
// strictest first.
var claimRelations = [...]relation{
	(*Act).SameRequest,
	isRefiltered,
	Covers,
	(*Act).sameSubject,
	isFollowUp,
	isSameTool,
}

// matchClaims assigns the dispatches to the calls of the dialogue and compares the results
// of these calls with what the proxy returned.
func (l *ProxyLog) matchClaims(claims []Claim, s *scratch) {
	if !l.Present {
		return
	}
	for _, related := range claimRelations {
		for i := range claims {
			l.claimDispatches(claims, i, related)
		}
	}
	for i := range l.Dispatches {
		d := &l.Dispatches[i]
		d.verbatim = d.Claimed >= 0 && d.Call.Response == claims[d.Claimed].Call.Result
	}
	for i := range claims {
		l.compareResult(claims, i, s)
	}
}

// claimDispatches assigns the unclaimed dispatches that are so related to claim i to it:
// the first one, or all of them if the call needs several requests.
func (l *ProxyLog) claimDispatches(claims []Claim, i int, related relation) {
	c := &claims[i]
	if !c.Act.Tool.IsCatalogue() {
		return
	}
	several := c.Act.Tool == ToolShop || c.Act.Tool == ToolMatch || c.Act.Tool == ToolView
	if c.Dispatch >= 0 && !several {
		return
	}
	for j := range l.Dispatches {
		d := &l.Dispatches[j]
		if d.Claimed >= 0 || !related(&c.Act, &d.Act) {
			continue
		}
		if c.Dispatch >= 0 && d.Act.SameRequest(&l.Dispatches[c.Dispatch].Act) {
			continue // a repeated request belongs to another call
		}
		d.Claimed = i
		if c.Dispatch < 0 {
			c.Dispatch = j
		}
		if !several {
			return
		}
	}
}

// compareResult sets whether the result of claim i is a phantom or edited.
func (l *ProxyLog) compareResult(claims []Claim, i int, s *scratch) {
	c := &claims[i]
	if c.Act.Tool != ToolFind && c.Act.Tool != ToolView {
		return
	}
	if c.Dispatch >= 0 && l.Dispatches[c.Dispatch].verbatim {
		return
	}
	if c.Act.Tool == ToolView {
		c.Shown = s.readListing(c.Call.Result).Shown
	}
	if len(c.Shown) == 0 {
		return
	}
	if c.Dispatch < 0 {
		c.Phantom = !l.isRemembered(claims[:i], c)
		return
	}
	c.Edited = l.isEdited(c, i, s)
}

// isRemembered reports whether a call without a dispatch shows what an earlier dispatch
// returned: the client caches answers.
func (l *ProxyLog) isRemembered(earlier []Claim, c *Claim) bool {
	if slices.ContainsFunc(earlier, func(e Claim) bool {
		return e.Dispatch >= 0 && e.Act.SameRequest(&c.Act)
	}) {
		return true
	}
	wasNotViewed := func(id string) bool {
		return !slices.ContainsFunc(l.Dispatches, func(d Dispatch) bool {
			return d.Act.Tool == ToolView && slices.Contains(d.Act.IDs, id)
		})
	}
	return c.Act.Tool == ToolView && !slices.ContainsFunc(c.Shown, wasNotViewed)
}

// isEdited reports whether the result of claim index differs from the answers of its
// dispatches, and of the dispatches for any of its products, which the client may cache.
func (l *ProxyLog) isEdited(c *Claim, index int, s *scratch) bool {
	s.candidates = s.candidates[:0]
	sharesProduct := func(ids []string) bool {
		return slices.ContainsFunc(c.Act.IDs, func(id string) bool {
			return slices.Contains(ids, id)
		})
	}
	for i := range l.Dispatches {
		d := &l.Dispatches[i]
		if d.Act.Tool != c.Act.Tool {
			continue
		}
		related := d.Claimed == index || d.Act.SameRequest(&l.Dispatches[c.Dispatch].Act) || sharesProduct(d.Act.IDs)
		if !related {
			continue
		}
		if d.Call.Response == c.Call.Result {
			return false
		}
		s.candidates = append(s.candidates, d)
	}
	for i, id := range c.Shown {
		if c.isContradicted(id, s.candidates) {
			isLast := i == len(c.Shown)-1
			return !isLast || !c.isTruncated()
		}
	}
	return false
}

// isTruncated reports whether the result is text that ends within a product: the client
// limits what its model reads, so that the last product is incomplete.
func (c *Claim) isTruncated() bool {
	return !cursor.Valid(c.Call.Result.Text())
}

// isContradicted reports whether an answer of the dispatches is known and none contains
// the product as the result shows it. Of a truncated answer only the ids are known: those
// in the log, or those that were requested.
func (c *Claim) isContradicted(id string, dispatches []*Dispatch) bool {
	known := false
	for _, d := range dispatches {
		match := true
		switch {
		case d.Call.Response != "":
			match = isSameProduct(d.Call.Response, c.Call.Result, id)
		case d.Act.Tool == ToolView:
			match = slices.Contains(d.Act.IDs, id)
		case d.Call.ProductIDs != nil:
			match = slices.Contains(d.Call.ProductIDs, id)
		}
		if match {
			return false
		}
		known = true
	}
	return known
}
