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
	// Listing contains the products in the result. It is empty for product details that the
	// proxy returned unchanged: their products are those of the call.
	Listing
	// Dispatch is the index of the first dispatch of this call, -1 if none.
	Dispatch int
	// Phantom reports whether no dispatch (logged request) returned the result, Edited whether
	// the result differs from what was returned.
	Phantom bool
	Edited  bool
}

// readClaims reads the calls of the dialogue in order, MaxCalls at most. Nothing is compared
// with the log yet.
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

// claimRelations are the ways in which a call of the dialogue may match a dispatch (logged
// request to the shop), the strictest first. matchClaims tries each for all calls before the
// next.
var claimRelations = [...]relation{
	(*Act).SameRequest,
	isRefiltered,
	Covers,
	(*Act).sameSubject,
	isFollowUp,
	isSameTool,
}

// matchClaims assigns the dispatches (logged requests to the shop) to the calls of the
// dialogue, and compares the results of these calls with what the proxy returned.
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

// claimDispatches assigns to claims[i], a call of the dialogue, the dispatches (logged requests)
// that carry it out by the criterion related and that no call has yet. It assigns only the first
// one, unless the call's tool needs several requests.
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

// compareResult sets Phantom of claims[i], a call of the dialogue, if no logged request returned
// its result, and Edited if the result differs from what the proxy returned. It examines searches
// and product details only.
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

// isRemembered reports whether the client may have had the result of a call from its cache, since
// the call has no logged request of its own. That is so if an earlier call with a logged request is
// equal, or if the log has requests for the details of all products that the result shows.
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

// isEdited reports whether the result of c, the call with this index in the dialogue,
// contradicts the log. The result is compared with the answers to the call's own requests, to
// equal ones and to those for any of its products, which the client may have cached. A
// contradiction in the last product does not count if the client truncated the result.
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

// isTruncated reports whether the result is no valid JSON, so that its last product is
// incomplete: clients limit what their model reads.
func (c *Claim) isTruncated() bool {
	return !cursor.Valid(c.Call.Result.Text())
}

// isContradicted reports whether the log shows that none of these logged requests returned the
// product as the result of c shows it. It is false if there are no requests, or if the products
// of one are not known. Of an answer that is not in the log only ids are compared: those that
// the log kept of the answer, or those requested.
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
