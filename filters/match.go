package filters

// link finds, for each dispatch, the inference that named it. A reply can only
// name what starts after it ended. The replies since the dispatch before are
// this dispatch's turn; an older reply that was already followed by another
// turn is stale: a plan that a program works off while it asks for other things.
func (l *proxyLog) link() {
	l.dropCopies()
	l.dropForeign()
	first := make([]int, len(l.replies)) // of the turn that ends with this reply
	for i := range first {
		first[i] = -1
	}
	newest := -1
	for i := range l.dispatches {
		d := &l.dispatches[i]
		last := l.lastBefore(d.start)
		d.last = last
		if last < 0 {
			d.link = linkNoReply
			if l.silent {
				d.link = linkUnknown
			}
			continue
		}
		if first[last] < 0 {
			first[last] = min(newest, last-1) + 1
		}
		newest = max(newest, last)
		l.linkOne(i, first[last], last)
	}
}

// dropCopies takes the named calls away from replies that the log holds twice:
// under an id that was there before, or word for word where the server gives
// every reply the same id.
func (l *proxyLog) dropCopies() {
	constant := l.constantID()
	for i := range l.replies {
		r := &l.replies[i]
		for j := range l.replies[:i] {
			e := &l.replies[j]
			if r.id == 0 || r.id != e.id || constant && r.call.Response != e.call.Response {
				continue
			}
			r.copied = true
			r.silence()
			break
		}
	}
}

// dropForeign takes the named calls away from replies that the proxy does not
// vouch for: with a nonce that is not theirs, or with none where other replies
// have a valid one.
func (l *proxyLog) dropForeign() {
	vouched := false
	for i := range l.replies {
		vouched = vouched || l.replies[i].call.Nonce == nonceValid
	}
	for i := range l.replies {
		r := &l.replies[i]
		switch r.call.Nonce {
		case nonceValid, "expired":
			continue
		case "", "missing":
			if !vouched {
				continue
			}
		}
		r.silence()
	}
}

// silence takes away what a reply says, which then speaks for no dispatch.
func (r *reply) silence() { r.named, r.queue, r.content = nil, nil, "" }

// constantID reports whether all replies, at least two, have one id: some servers
// count nothing.
func (l *proxyLog) constantID() bool {
	for i := range l.replies {
		if l.replies[i].readable && l.replies[i].id != l.replies[0].id {
			return false
		}
	}
	return len(l.replies) > 1
}

// lastBefore is the index of the last reply that ended before start, -1 where
// none did.
func (l *proxyLog) lastBefore(start float64) int {
	last := -1
	for i := range l.replies {
		if l.replies[i].end <= start+l.slack {
			last = i
		}
	}
	return last
}

// binding are the relations in which a dispatch stands to a named call that it
// carries out, the surest first.
var binding = [...]struct {
	same func(named, sent *act) bool
	link link
}{{(*act).sameRequest, linkNamed}, {covers, linkNamed}, {(*act).looser, linkLoose}, {(*act).refiltered, linkLoose}, {(*act).trimmed, linkLoose}, {renamed, linkLoose}, {computes, linkLoose}}

func (l *proxyLog) linkOne(i, first, last int) {
	d := &l.dispatches[i]
	for _, try := range binding {
		if try.link == linkLoose && l.resent(i) {
			d.link = linkRetry
			return
		}
		if l.consume(d, first, last, try.same) {
			d.link = try.link
			return
		}
	}
	switch {
	case l.merges(d, first, last):
		d.link = linkNamed
	case l.derived(d, first, last):
		d.link = linkDerived
	case l.turnsPage(i):
		d.link = linkDerived
	case l.retries(i):
		d.link = linkRetry
	case l.unreadable(first, last):
		d.link = linkUnknown
	case l.consume(d, 0, first-1, (*act).sameRequest):
		d.link = linkStale
	case l.consume(d, first, last, sameTool):
		d.link = linkOverride
	default:
		d.link = linkNone
	}
}

// consume finds a named call in the replies first to last, newest first, that
// stands in the given relation to d, and spends it.
func (l *proxyLog) consume(d *dispatch, first, last int, same func(named, sent *act) bool) bool {
	for r := last; r >= first && r >= 0; r-- {
		for j := range l.replies[r].named {
			named := &l.replies[r].named[j]
			if named.used || !same(named, &d.act) {
				continue
			}
			named.used = !named.computed && !partial(named, &d.act)
			d.reply = r
			return true
		}
	}
	return false
}

func sameTool(named, sent *act) bool { return named.tool == sent.tool }

// covers reports whether sent asks for some of the products that were named: a
// client that opens them one by one.
func covers(named, sent *act) bool {
	return named.tool == toolView && sent.tool == toolView && len(sent.ids) > 0 && subset(sent.ids, named.ids)
}

// renamed reports whether a call of a tool which the shop does not have asks for just
// what was sent: the author gave the tools names of his own, and his client
// knows which is which.
func renamed(named, sent *act) bool {
	if named.tool != toolOther {
		return false
	}
	switch sent.tool {
	case toolFind:
		return len(named.words) > 0 && sameHashes(named.words, sent.words)
	case toolShop:
		return len(named.specs) > 0 && len(named.specs) == len(sent.specs)
	case toolVoucher:
		return named.rest == sent.rest
	case toolView, toolMatch:
		return len(sent.ids) > 0 && subset(sent.ids, named.ids)
	case toolOther, toolRecommend, toolTerminate:
	}
	return false
}

// computes reports whether a program which the model wrote makes calls of this tool:
// in a loop as many as it likes, and with which arguments nobody sees.
func computes(named, sent *act) bool { return named.computed && named.tool == sent.tool }

// partial is a named call that a dispatch used only a part of. Its products
// stay named until as many were opened.
func partial(named, sent *act) bool {
	if named.tool != toolView && named.tool != toolOther || len(sent.ids) >= len(named.ids) {
		return false
	}
	var left []string
	for _, id := range named.ids {
		if !hasID(sent.ids, id) {
			left = append(left, id)
		}
	}
	named.ids = left
	return len(left) > 0
}

// refiltered reports whether sent is about the named subject on the same page, but
// with another filter: the client's addition.
func (a *act) refiltered(b *act) bool {
	return a.sameSubject(b) && a.page == b.page && (a.shop == b.shop || a.shop == 0 || b.shop == 0)
}

// derived reports whether a tool which needs several requests was named, and d is
// one that it makes: a search in one shop for each product, the details of a
// product to be matched, a search again with fewer words or filters.
func (l *proxyLog) derived(d *dispatch, first, last int) bool {
	for r := last; r >= first && r >= 0; r-- {
		for j := range l.replies[r].named {
			if named := &l.replies[r].named[j]; follows(named, &d.act) {
				d.reply = r
				named.used = true
				return true
			}
		}
	}
	return false
}

func follows(named, sent *act) bool {
	switch {
	case named.tool == toolMatch && sent.tool == toolView:
		return len(sent.ids) > 0 && subset(sent.ids, named.ids)
	case named.tool == toolShop && sent.tool == toolFind:
		for _, spec := range named.specs {
			if prefix(sent.words, spec) {
				return true
			}
		}
	case named.tool == toolFind && sent.tool == toolFind:
		return named.shop != 0 && named.shop == sent.shop && named.page == sent.page &&
			len(sent.words) > 0 && prefix(sent.words, named.words)
	}
	return false
}

// prefix reports whether a is how b begins, or both are empty.
func prefix(a, b []uint64) bool {
	if len(a) > len(b) || (len(a) == 0) != (len(b) == 0) {
		return false
	}
	return sameHashes(a, b[:len(a)])
}

// turnsPage reports whether dispatch i asks for the page after one that was named in
// the same turn: a client that fetches several pages for one search.
func (l *proxyLog) turnsPage(i int) bool {
	d := &l.dispatches[i]
	for j := i - 1; j >= 0 && l.dispatches[j].last == d.last; j-- {
		if e := &l.dispatches[j]; e.link.bound() && nextPage(&e.act, &d.act) {
			d.reply = e.reply
			return true
		}
	}
	return false
}

// nextPage reports whether sent is the same search as before, one page on.
func nextPage(before, sent *act) bool {
	turned := *before
	turned.page++
	return sent.tool == toolFind && turned.sameRequest(sent)
}

// retries reports whether dispatch i repeats an earlier one that a reply had named:
// a client that tries again.
func (l *proxyLog) retries(i int) bool {
	for j := i - 1; j >= 0 && j >= i-maxRetries; j-- {
		e := &l.dispatches[j]
		if e.act.sameRequest(&l.dispatches[i].act) {
			l.dispatches[i].reply = e.reply
			return e.link.bound() || e.link == linkRetry
		}
	}
	return false
}

// resent reports whether dispatch i asks again for what was just asked for and not
// answered. It stands for the call named first, and for no other like it.
func (l *proxyLog) resent(i int) bool {
	return i > 0 && !answered(l.dispatches[i-1].call) && l.dispatches[i-1].act.sameRequest(&l.dispatches[i].act) && l.retries(i)
}

// maxRetries is how many dispatches back a client's retry may lie; the
// sandbox's client tries at most ten times.
const maxRetries = 10

// bound reports whether a model's own words named the dispatch.
func (k link) bound() bool { return k == linkNamed || k == linkLoose || k == linkDerived }

func (l *proxyLog) unreadable(first, last int) bool {
	for r := first; r <= last; r++ {
		if !l.replies[r].readable {
			return true
		}
	}
	return false
}

// richnessV1 is the subnet's first definition: the share of dispatches whose
// immediately preceding inference answer named that tool, the named tools
// being a queue. Negative where there is no dispatch.
func (l *proxyLog) richnessV1() float64 {
	if len(l.dispatches) == 0 {
		return -1
	}
	counted, next, current := 0, 0, -1
	for i := range l.dispatches {
		last := l.dispatches[i].last
		if last != current {
			current, next = last, 0
		}
		if last >= 0 && next < len(l.replies[last].queue) && l.replies[last].queue[next] == l.dispatches[i].act.tool {
			next++
			counted++
		}
	}
	return float64(counted) / float64(len(l.dispatches))
}

// richnessV2 is the subnet's second definition: the share of dispatches with a
// valid nonce. Negative where there is no dispatch or no nonce in the log.
func (l *proxyLog) richnessV2() float64 {
	if !l.nonces() {
		return -1
	}
	valid := 0
	for i := range l.dispatches {
		valid += int(flag(l.dispatches[i].call.Nonce == nonceValid))
	}
	return float64(valid) / float64(len(l.dispatches))
}

const nonceValid = "valid"

// nonces reports whether the proxy gave its dispatches a nonce's status.
func (l *proxyLog) nonces() bool {
	for i := range l.dispatches {
		if l.dispatches[i].call.Nonce != "" {
			return true
		}
	}
	return false
}
