package evidence

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// link finds, for each dispatch, the inference that named it. A reply can only
// name what starts after it ended. The replies since the dispatch before are
// this dispatch's turn; an older reply that was already followed by another
// turn is stale: a plan that a program works off while it asks for other things.
func (l *ProxyLog) link() {
	l.dropCopies()
	l.dropForeign()
	first := make([]int, len(l.Replies)) // of the turn that ends with this reply
	for i := range first {
		first[i] = -1
	}
	newest := -1
	for i, d := range Each(l.Dispatches) {
		last := l.lastBefore(d.Start)
		d.Last = last
		if last < 0 {
			d.Link = LinkNoReply
			if l.silent {
				d.Link = LinkUnknown
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
func (l *ProxyLog) dropCopies() {
	constant := l.constantID()
	for i, r := range Each(l.Replies) {
		for _, e := range Each(l.Replies[:i]) {
			if r.id != 0 && r.id == e.id && (!constant || r.Call.Response == e.Call.Response) {
				r.Copied = true
				r.silence()
				break
			}
		}
	}
}

// dropForeign takes the named calls away from replies that the proxy does not
// vouch for: with a nonce that is not theirs, or with none where other replies
// have a valid one.
func (l *ProxyLog) dropForeign() {
	vouched := slices.ContainsFunc(l.Replies, func(r Reply) bool { return r.Call.Nonce == NonceValid })
	for _, r := range Each(l.Replies) {
		none := r.Call.Nonce == "" || r.Call.Nonce == "missing"
		if none && vouched || !none && r.Call.Nonce != NonceValid && r.Call.Nonce != "expired" {
			r.silence()
		}
	}
}

// silence takes away what a reply says, which then speaks for no dispatch.
func (r *Reply) silence() { r.Named, r.queue, r.content = nil, nil, "" }

// constantID reports whether all replies, at least two, have one id: some servers
// count nothing.
func (l *ProxyLog) constantID() bool {
	return len(l.Replies) > 1 && !slices.ContainsFunc(l.Replies, func(r Reply) bool { return r.readable && r.id != l.Replies[0].id })
}

// lastBefore is the index of the last reply that ended before start, -1 where
// none did.
func (l *ProxyLog) lastBefore(start float64) int {
	last := -1
	for i := range l.Replies {
		if l.Replies[i].End <= start+l.Slack {
			last = i
		}
	}
	return last
}

// binding are the relations in which a dispatch stands to a named call that it
// carries out, the surest first.
var binding = [...]struct {
	same func(named, sent *Act) bool
	link Link
}{{(*Act).SameRequest, LinkNamed}, {Covers, LinkNamed}, {(*Act).refiltered, LinkLoose}, {(*Act).trimmed, LinkLoose}, {renamed, LinkLoose}}

func (l *ProxyLog) linkOne(i, first, last int) {
	d := &l.Dispatches[i]
	for _, try := range binding {
		if try.link == LinkLoose && l.retries(i) {
			d.Link = LinkRetry
			return
		}
		if l.consume(d, first, last, false, try.same) {
			d.Link = try.link
			return
		}
	}
	switch {
	case l.merges(d, first, last):
		d.Link = LinkNamed
	case l.consume(d, first, last, true, follows):
		d.Link = LinkDerived
	case slices.ContainsFunc(l.Replies[first:last+1], func(r Reply) bool { return !r.readable }):
		d.Link = LinkUnknown
	case l.consume(d, 0, first-1, false, (*Act).SameRequest):
		d.Link = LinkStale
	case l.consume(d, first, last, false, sameTool):
		d.Link = LinkOverride
	default:
		d.Link = LinkNone
	}
}

// consume finds a named call in the replies first to last, newest first, that
// stands in the given relation to d, and spends it; again takes those that are spent, too.
func (l *ProxyLog) consume(d *Dispatch, first, last int, again bool, same func(named, sent *Act) bool) bool {
	for r := last; r >= first && r >= 0; r-- {
		for _, named := range Each(l.Replies[r].Named) {
			if named.Used && !again || !same(named, &d.Act) {
				continue
			}
			named.Used, named.Begun = !partial(named, &d.Act), true
			d.Reply = r
			return true
		}
	}
	return false
}

func sameTool(named, sent *Act) bool { return named.Tool == sent.Tool }

// Covers reports whether sent asks for some of the products that were named: a
// client that opens them one by one.
func Covers(named, sent *Act) bool {
	return named.Tool == ToolView && sent.Tool == ToolView && len(sent.IDs) > 0 && Subset(sent.IDs, named.IDs)
}

// renamed reports whether a call of a tool which the shop does not have asks for just
// what was sent: the author gave the tools names of his own, and his client
// knows which is which.
func renamed(named, sent *Act) bool {
	if named.Tool != ToolOther {
		return false
	}
	switch sent.Tool {
	case ToolFind:
		return len(named.Words) > 0 && slices.Equal(named.Words, sent.Words)
	case ToolShop:
		return len(named.specs) > 0 && len(named.specs) == len(sent.specs)
	case ToolVoucher:
		return named.Rest == sent.Rest
	case ToolView, ToolMatch:
		return len(sent.IDs) > 0 && Subset(sent.IDs, named.IDs)
	case ToolOther, ToolAsk, ToolRecommend, ToolTerminate:
	}
	return false
}

// partial is a named call that a dispatch used only a part of. Its products
// stay named until as many were opened.
func partial(named, sent *Act) bool {
	if named.Tool != ToolView && named.Tool != ToolOther || len(sent.IDs) >= len(named.IDs) {
		return false
	}
	named.IDs = slices.DeleteFunc(slices.Clone(named.IDs), func(id string) bool { return slices.Contains(sent.IDs, id) })
	return len(named.IDs) > 0
}

// refiltered reports whether sent is about the named subject on the same page, but
// with another filter: the client's addition.
func (a *Act) refiltered(b *Act) bool {
	return a.sameSubject(b) && a.Page == b.Page && (a.Shop == b.Shop || a.Shop == 0 || b.Shop == 0)
}

// follows reports whether a tool which needs several requests was named, and sent is one
// that it makes: a search in one shop for each product, the details of a product to be
// matched, a search again with fewer words or filters.
func follows(named, sent *Act) bool {
	switch {
	case named.Tool == ToolMatch && sent.Tool == ToolView:
		return len(sent.IDs) > 0 && Subset(sent.IDs, named.IDs)
	case named.Tool == ToolShop && sent.Tool == ToolFind:
		for _, spec := range named.specs {
			if prefix(sent.Words, spec) {
				return true
			}
		}
	case named.Tool == ToolFind && sent.Tool == ToolFind:
		return named.Shop != 0 && named.Shop == sent.Shop && named.Page == sent.Page &&
			len(sent.Words) > 0 && prefix(sent.Words, named.Words)
	}
	return false
}

// prefix reports whether a is how b begins, or both are empty.
func prefix(a, b []uint64) bool {
	return len(a) <= len(b) && (len(a) == 0) == (len(b) == 0) && slices.Equal(a, b[:len(a)])
}

// retries reports whether dispatch i repeats an earlier one that a reply had named:
// a client that tries again.
func (l *ProxyLog) retries(i int) bool {
	for j := i - 1; j >= 0 && j >= i-maxRetries; j-- {
		e := &l.Dispatches[j]
		if e.Act.SameRequest(&l.Dispatches[i].Act) {
			l.Dispatches[i].Reply = e.Reply
			return e.Link.bound() || e.Link == LinkRetry
		}
	}
	return false
}

// maxRetries is how many dispatches back a client's retry may lie; the
// sandbox's client tries at most ten times.
const maxRetries = 10

// bound reports whether a model's own words named the dispatch.
func (k Link) bound() bool { return k == LinkNamed || k == LinkLoose || k == LinkDerived }

// RichnessV1 is the subnet's first definition: the share of dispatches whose
// immediately preceding inference answer named that tool, the named tools
// being a queue. NaN where there is no dispatch.
func (l *ProxyLog) RichnessV1() float64 {
	counted, next, current := 0, 0, -1
	for i := range l.Dispatches {
		last := l.Dispatches[i].Last
		if last != current {
			current, next = last, 0
		}
		if last >= 0 && next < len(l.Replies[last].queue) && l.Replies[last].queue[next] == l.Dispatches[i].Act.Tool {
			next++
			counted++
		}
	}
	return Share(counted, len(l.Dispatches))
}

// RichnessV2 is the subnet's second definition: the share of dispatches with a
// valid nonce. NaN where there is no dispatch or no nonce in the log.
func (l *ProxyLog) RichnessV2() float64 {
	if !slices.ContainsFunc(l.Dispatches, func(d Dispatch) bool { return d.Call.Nonce != "" }) {
		return math.NaN()
	}
	return Share(slicesx.CountFunc(l.Dispatches, func(d *Dispatch) bool { return d.Call.Nonce == NonceValid }), len(l.Dispatches))
}

// NonceValid is what the proxy says of a dispatch whose nonce is its own.
const NonceValid = "valid"
