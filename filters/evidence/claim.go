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
	// Listing contains the items in the result. It is empty for item details that the
	// proxy returned unchanged, whose items are those of the call.
	Listing
	// Dispatch is the index of the first logged request that carries out this call, -1 if there
	// is none.
	Dispatch int
	// Phantom reports whether no logged request returned the result. Edited reports whether the
	// result differs from what was returned.
	Phantom bool
	Edited  bool
	// resultWords are the hashes of the words in the result, nil if they are not stored.
	resultWords []uint64
}

// readClaims returns the first calls of the dialogue in order, at most MaxCalls, as claims: what
// the trace states about a call and its result, not yet compared with the proxy's log.
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

// claimRelations are the tests of whether a logged request to the tool server carries out a call
// that the dialogue shows, the strictest first. matchClaims tries each test on all calls before the
// next test, so that exact matches come first.
var claimRelations = [...]relation{
	(*Act).SameRequest,
	isRefiltered,
	Covers,
	(*Act).sameSubject,
	isFollowUp,
	isSameTool,
}

// matchClaims decides for each logged request to the tool server which call of the dialogue it
// carried out. It then compares the results that the dialogue shows for these calls with what the
// proxy returned, to find changed or invented results.
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

// claimDispatches assigns logged requests to claims[i], the call of the dialogue that they carry
// out. The requests must match the call by the test related, and not be assigned yet. Only the
// first one is assigned, unless the call's tool needs several requests.
func (l *ProxyLog) claimDispatches(claims []Claim, i int, related relation) {
	c := &claims[i]
	if !c.Act.Tool.IsCatalogue() {
		return
	}
	several := c.Act.Tool == ToolFindWithin || c.Act.Tool == ToolMatch || c.Act.Tool == ToolView
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

// compareResult compares the result that the dialogue shows for claims[i], one of its calls, with
// the proxy's log. It sets Phantom if no logged request returned that result, so that it was
// invented, and Edited if the proxy returned a different one. Only searches and item details are
// examined.
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

// isRemembered reports whether a client may have taken the result of c, a call for which the log
// has no request, from its cache. That is so if an earlier call with a logged request is equal to
// c, or if c opens items and the log has a request for the details of each item in its result.
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

// isEdited reports whether the result that the dialogue shows for call c contradicts the log, so
// that the client changed it. index is the call's index in the dialogue. The result is compared
// with the logged answers to the call's own requests, to equal requests, and to requests for any of
// its items. A contradiction in the last item is ignored if the client truncated the result.
func (l *ProxyLog) isEdited(c *Claim, index int, s *scratch) bool {
	s.candidates = s.candidates[:0]
	sharesItem := func(ids []string) bool {
		return slices.ContainsFunc(c.Act.IDs, func(id string) bool {
			return slices.Contains(ids, id)
		})
	}
	for i := range l.Dispatches {
		d := &l.Dispatches[i]
		if d.Act.Tool != c.Act.Tool {
			continue
		}
		related := d.Claimed == index || d.Act.SameRequest(&l.Dispatches[c.Dispatch].Act) || sharesItem(d.Act.IDs)
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

// isTruncated reports whether the result of a call is no valid JSON. Its last item is then
// incomplete, since clients limit what their model reads.
func (c *Claim) isTruncated() bool {
	return !cursor.Valid(c.Call.Result.Text())
}

// isContradicted reports whether an item looks different in the log than in the result of c, a call
// of the dialogue: none of the logged requests in dispatches returned it with the same title and
// price. It returns false if there are no requests, or if the items of one are unknown. If an
// answer was not logged, only item ids are compared.
func (c *Claim) isContradicted(id string, dispatches []*Dispatch) bool {
	known := false
	for _, d := range dispatches {
		match := true
		switch {
		case d.Call.Response != "":
			match = isSameItem(d.Call.Response, c.Call.Result, id)
		case d.Act.Tool == ToolView:
			match = slices.Contains(d.Act.IDs, id)
		case d.Call.ItemIDs != nil:
			match = slices.Contains(d.Call.ItemIDs, id)
		}
		if match {
			return false
		}
		known = true
	}
	return known
}
