package filters

import (
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// claim is one call of the dialogue with what the proxy says about it.
type claim struct {
	call *arena.Call
	turn int
	act  act
	// listing is what the result shows; details that the proxy returned just so
	// are not read, since their products are those asked for.
	listing
	// fits has one more than the words of the request in each title that was
	// measured.
	fits []uint16
	// dispatch is the first dispatch behind this call, -1 where there is none.
	dispatch int
	// phantom is a result that no dispatch returned; edited one that differs
	// from what was returned.
	phantom bool
	edited  bool
}

// readClaims lists the calls of a dialogue, as far as they are examined.
func readClaims(d *arena.Dialogue, p *pad) []claim {
	all := p.claims
	for i := range d.Turns {
		for j := range d.Turns[i].Calls {
			if len(all) == maxCalls {
				break
			}
			c := claim{call: &d.Turns[i].Calls[j], turn: i, dispatch: -1}
			c.act.read(p, toolOf(c.call.Name), c.call.Arguments, false)
			all = append(all, c)
		}
	}
	p.claims = all
	return all
}

// match sets each catalogue call of the dialogue against the dispatches: the
// same request first, then the same subject, then the same tool in order.
func (l *proxyLog) match(all []claim, p *pad) {
	if !l.present {
		return
	}
	for n, same := range [...]func(claimed, sent *act) bool{(*act).sameRequest, (*act).refiltered, covers, (*act).sameSubject, follows, sameTool} {
		if !l.waits() {
			break
		}
		for i := range all {
			l.claim(&all[i], i, same)
		}
		if n == 1 {
			l.claimPages()
		}
	}
	for i := range l.dispatches {
		d := &l.dispatches[i]
		d.verbatim = d.claimed >= 0 && d.call.Response == all[d.claimed].call.Result
	}
	for i := range all {
		l.judge(all, i, p)
	}
}

// waits reports whether no call has claimed some dispatch yet.
func (l *proxyLog) waits() bool {
	for i := range l.dispatches {
		if l.dispatches[i].claimed < 0 {
			return true
		}
	}
	return false
}

// claim gives c the dispatches that stand in the relation to it. A call that
// needs several requests takes all of them.
func (l *proxyLog) claim(c *claim, index int, same func(claimed, sent *act) bool) {
	if !c.act.tool.catalogue() {
		return
	}
	several := c.act.tool == toolShop || c.act.tool == toolMatch || c.act.tool == toolView
	if c.dispatch >= 0 && !several {
		return
	}
	for i := range l.dispatches {
		d := &l.dispatches[i]
		if d.claimed >= 0 || !same(&c.act, &d.act) {
			continue
		}
		if c.dispatch >= 0 && d.act.sameRequest(&l.dispatches[c.dispatch].act) {
			continue // a second request for the same is another call's
		}
		d.claimed = index
		if c.dispatch < 0 {
			c.dispatch = i
		}
		if !several {
			return
		}
	}
}

// claimPages gives a search the pages that a client fetched for it beyond the
// one asked for, and that no call of its own asked for.
func (l *proxyLog) claimPages() {
	for i := range l.dispatches {
		d := &l.dispatches[i]
		if d.claimed >= 0 || d.act.page < 2 {
			continue
		}
		for j := i - 1; j >= 0; j-- {
			if e := &l.dispatches[j]; e.claimed >= 0 && nextPage(&e.act, &d.act) {
				d.claimed = e.claimed
				break
			}
		}
	}
}

// judge says whether the result of a call is what the proxy returned.
func (l *proxyLog) judge(all []claim, i int, p *pad) {
	c := &all[i]
	if c.act.tool != toolFind && c.act.tool != toolView {
		return
	}
	if c.dispatch >= 0 && l.dispatches[c.dispatch].verbatim {
		return
	}
	if c.act.tool == toolView {
		c.shown = p.shownIDs(c.call.Result)
	}
	if len(c.shown) == 0 {
		return
	}
	if c.dispatch < 0 {
		c.phantom = !l.seenBefore(all[:i], c)
		return
	}
	c.edited = l.differs(c, i, p)
}

// seenBefore reports whether a call without a dispatch of its own shows what an
// earlier dispatch returned: a client that remembers answers.
func (l *proxyLog) seenBefore(earlier []claim, c *claim) bool {
	for i := range earlier {
		if e := &earlier[i]; e.dispatch >= 0 && e.act.sameRequest(&c.act) {
			return true
		}
	}
	if c.act.tool != toolView {
		return false
	}
	for _, id := range c.shown {
		if !l.opened(id) {
			return false
		}
	}
	return true
}

// opened reports whether a dispatch asked for the details of this product.
func (l *proxyLog) opened(id string) bool {
	for i := range l.dispatches {
		if d := &l.dispatches[i]; d.act.tool == toolView && hasID(d.act.ids, id) {
			return true
		}
	}
	return false
}

// differs compares a result with the answers of its dispatches, and of those for
// any of its products, which the client may remember.
func (l *proxyLog) differs(c *claim, index int, p *pad) bool {
	p.behind = p.behind[:0]
	for i := range l.dispatches {
		d := &l.dispatches[i]
		if d.act.tool != c.act.tool || d.claimed != index && !d.act.sameRequest(&l.dispatches[c.dispatch].act) && !sharesID(c.act.ids, d.act.ids) {
			continue
		}
		if d.call.Response == c.call.Result {
			return false
		}
		p.behind = append(p.behind, d)
	}
	for i, id := range c.shown {
		if c.denied(id, p.behind) {
			return i < len(c.shown)-1 || !c.cutShort()
		}
	}
	return false
}

func sharesID(a, b []string) bool {
	for _, id := range a {
		if hasID(b, id) {
			return true
		}
	}
	return false
}

// cutShort reports whether the result is text which ends within a product: a client
// that cuts what its model reads. The last product is then not shown whole.
func (c *claim) cutShort() bool {
	text := string(c.call.Result)
	if c.call.Result.Kind() == arena.String {
		text = gjson.Parse(text).Str
	}
	return !cursor.Valid(text)
}

// denied reports whether the answers behind a call are known and none holds the
// product as its result shows it. Of a cut answer only the ids are known: those
// that the log kept, or that were asked for.
func (c *claim) denied(id string, behind []*dispatch) bool {
	known := false
	for _, d := range behind {
		found := true
		switch {
		case d.call.Response != "":
			found = showsSame(d.call.Response, c.call.Result, id)
		case d.act.tool == toolView:
			found = hasID(d.act.ids, id)
		case d.call.ProductIDs != nil:
			found = hasID(d.call.ProductIDs, id)
		}
		if found {
			return false
		}
		known = true
	}
	return known
}
