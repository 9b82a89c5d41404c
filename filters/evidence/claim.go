package evidence

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Claim is one call of the dialogue with what the proxy says about it.
type Claim struct {
	Call *arena.Call
	Act  Act
	// listing is what the result shows; details that the proxy returned just so
	// are not read, since their products are those asked for.
	Listing
	// Dispatch is the first dispatch behind this call, -1 where there is none.
	Dispatch int
	// Phantom is a result that no dispatch returned; edited one that differs
	// from what was returned.
	Phantom bool
	Edited  bool
}

func readClaims(d *arena.Dialogue, p *Pad) []Claim {
	all := p.claims
	for i := range d.Turns {
		for j := range d.Turns[i].Calls {
			if len(all) == MaxCalls {
				break
			}
			c := Claim{Call: &d.Turns[i].Calls[j], Dispatch: -1}
			c.Act.Read(p, p.role(c.Call.Name), c.Call.Arguments, false)
			all = append(all, c)
		}
	}
	p.claims = all
	return all
}

// match sets each catalogue call of the dialogue against the dispatches: the
// same request first, then the same subject, then the same tool in order.
func (l *ProxyLog) match(all []Claim, p *Pad) {
	if !l.Present {
		return
	}
	for _, same := range [...]func(claimed, sent *Act) bool{(*Act).SameRequest, (*Act).refiltered, Covers, (*Act).sameSubject, follows, sameTool} {
		for i := range all {
			l.claim(&all[i], i, same)
		}
	}
	for _, d := range Each(l.Dispatches) {
		d.verbatim = d.Claimed >= 0 && d.Call.Response == all[d.Claimed].Call.Result
	}
	for i := range all {
		l.judge(all, i, p)
	}
}

// claim gives c the dispatches that stand in the relation to it. A call that
// needs several requests takes all of them.
func (l *ProxyLog) claim(c *Claim, index int, same func(claimed, sent *Act) bool) {
	if !c.Act.Tool.IsCatalogue() {
		return
	}
	several := c.Act.Tool == ToolShop || c.Act.Tool == ToolMatch || c.Act.Tool == ToolView
	if c.Dispatch >= 0 && !several {
		return
	}
	for i, d := range Each(l.Dispatches) {
		if d.Claimed >= 0 || !same(&c.Act, &d.Act) {
			continue
		}
		if c.Dispatch >= 0 && d.Act.SameRequest(&l.Dispatches[c.Dispatch].Act) {
			continue // a second request for the same is another call's
		}
		d.Claimed = index
		if c.Dispatch < 0 {
			c.Dispatch = i
		}
		if !several {
			return
		}
	}
}

// judge says whether the result of a call is what the proxy returned.
func (l *ProxyLog) judge(all []Claim, i int, p *Pad) {
	c := &all[i]
	if c.Act.Tool != ToolFind && c.Act.Tool != ToolView {
		return
	}
	if c.Dispatch >= 0 && l.Dispatches[c.Dispatch].verbatim {
		return
	}
	if c.Act.Tool == ToolView {
		c.Shown = p.List(c.Call.Result).Shown
	}
	if len(c.Shown) == 0 {
		return
	}
	if c.Dispatch < 0 {
		c.Phantom = !l.seenBefore(all[:i], c)
		return
	}
	c.Edited = l.differs(c, i, p)
}

// seenBefore reports whether a call without a dispatch of its own shows what an
// earlier dispatch returned: a client that remembers answers.
func (l *ProxyLog) seenBefore(earlier []Claim, c *Claim) bool {
	if slices.ContainsFunc(earlier, func(e Claim) bool { return e.Dispatch >= 0 && e.Act.SameRequest(&c.Act) }) {
		return true
	}
	unopened := func(id string) bool {
		return !slices.ContainsFunc(l.Dispatches, func(d Dispatch) bool { return d.Act.Tool == ToolView && slices.Contains(d.Act.IDs, id) })
	}
	return c.Act.Tool == ToolView && !slices.ContainsFunc(c.Shown, unopened)
}

// differs compares a result with the answers of its dispatches, and of those for
// any of its products, which the client may remember.
func (l *ProxyLog) differs(c *Claim, index int, p *Pad) bool {
	p.behind = p.behind[:0]
	remembered := func(sent []string) bool {
		return slices.ContainsFunc(c.Act.IDs, func(id string) bool { return slices.Contains(sent, id) })
	}
	for _, d := range Each(l.Dispatches) {
		if d.Act.Tool != c.Act.Tool || d.Claimed != index && !d.Act.SameRequest(&l.Dispatches[c.Dispatch].Act) && !remembered(d.Act.IDs) {
			continue
		}
		if d.Call.Response == c.Call.Result {
			return false
		}
		p.behind = append(p.behind, d)
	}
	for i, id := range c.Shown {
		if c.denied(id, p.behind) {
			return i < len(c.Shown)-1 || !c.cutShort()
		}
	}
	return false
}

// cutShort reports whether the result is text which ends within a product: a client
// that cuts what its model reads. The last product is then not shown whole.
func (c *Claim) cutShort() bool {
	return !cursor.Valid(c.Call.Result.Text())
}

// denied reports whether the answers behind a call are known and none holds the
// product as its result shows it. Of a cut answer only the ids are known: those
// that the log kept, or that were asked for.
func (c *Claim) denied(id string, behind []*Dispatch) bool {
	known := false
	for _, d := range behind {
		found := true
		switch {
		case d.Call.Response != "":
			found = showsSame(d.Call.Response, c.Call.Result, id)
		case d.Act.Tool == ToolView:
			found = slices.Contains(d.Act.IDs, id)
		case d.Call.ProductIDs != nil:
			found = slices.Contains(d.Call.ProductIDs, id)
		}
		if found {
			return false
		}
		known = true
	}
	return known
}
