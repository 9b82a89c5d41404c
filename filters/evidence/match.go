package evidence

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// linkDispatches sets for each logged request to the tool server its link: whether and how a reply
// of the model asked for it. A reply can only ask for requests that start after the reply ended. A
// request that only a reply before the previous request asked for is stale, since programs follow
// an old plan while they ask the model for other things.
func (l *ProxyLog) linkDispatches() {
	l.discardCopies()
	l.discardForeign()

	turnStarts := make([]int, len(l.Replies)) // by the last reply of the turn, -1 if unknown
	for i := range turnStarts {
		turnStarts[i] = -1
	}
	newest := -1
	for i := range l.Dispatches {
		d := &l.Dispatches[i]
		last := l.lastReplyBefore(d.Start)
		d.LastReply = last
		if last < 0 {
			d.Link = LinkNoReply
			if l.silent {
				d.Link = LinkUnknown
			}
			continue
		}
		if turnStarts[last] < 0 {
			turnStarts[last] = min(newest, last-1) + 1
		}
		newest = max(newest, last)
		d.firstReply = turnStarts[last]
		l.linkDispatch(i, turnStarts[last], last)
	}
}

// discardCopies removes the calls of replies that the log contains twice, so that a copied reply is
// no evidence that the model asked for a request. A copy has the id of an earlier reply or, if the
// server gives all replies the same id, the same id and text.
func (l *ProxyLog) discardCopies() {
	constant := l.hasConstantID()
	for i := range l.Replies {
		r := &l.Replies[i]
		if r.id == 0 {
			continue
		}
		for j := range l.Replies[:i] {
			earlier := &l.Replies[j]
			if r.id == earlier.id && (!constant || r.Call.Response == earlier.Call.Response) {
				r.Copied = true
				r.discard()
				break
			}
		}
	}
}

// discardForeign removes the calls of replies that did not pass through the proxy, so that they are
// no evidence. The proxy logged for each reply whether the request for it had a valid nonce
// (one-time number). Any verdict but valid and expired discards the reply. A missing nonce does so
// only if another reply has a valid one, since some versions of the log have no nonces.
func (l *ProxyLog) discardForeign() {
	hasValid := slices.ContainsFunc(l.Replies, func(r Reply) bool {
		return r.Call.Nonce == NonceValid
	})
	for i := range l.Replies {
		r := &l.Replies[i]
		switch r.Call.Nonce {
		case NonceValid, "expired":
		case "", "missing":
			if hasValid {
				r.discard()
			}
		default:
			r.discard()
		}
	}
}

// discard removes the calls and the text of a reply, so that it is evidence for no logged
// request.
func (r *Reply) discard() {
	r.Named = nil
	r.queue = nil
	r.content = ""
	r.reasoning = ""
	r.toolCalls = ""
}

// hasConstantID reports whether the log has at least two replies and all readable ones have the
// same id. Some servers give all replies the same id, so that equal ids do not show a copy.
func (l *ProxyLog) hasConstantID() bool {
	if len(l.Replies) < 2 {
		return false
	}
	differs := func(r Reply) bool {
		return r.readable && r.id != l.Replies[0].id
	}
	return !slices.ContainsFunc(l.Replies, differs)
}

// lastReplyBefore returns the index of the last reply that ended before start (Unix milliseconds),
// within the tolerance Slack. It returns -1 if there is none.
func (l *ProxyLog) lastReplyBefore(start float64) int {
	last := -1
	for i := range l.Replies {
		if l.Replies[i].End <= start+l.Slack {
			last = i
		}
	}
	return last
}

// linkDispatch sets the link of the logged tool request i: how the model's replies first to last,
// those since the previous request, asked for it. If none of them did, the link is retry (an
// earlier equal request is tried again), unknown (one of the replies cannot be read), stale (an
// earlier reply asked for it), override (these replies call its tool with other arguments) or none.
func (l *ProxyLog) linkDispatch(i, first, last int) {
	d := &l.Dispatches[i]
	for _, r := range linkRelations {
		if r.link == LinkLoose && l.linkRetry(i) {
			d.Link = LinkRetry
			return
		}
		if l.useNamed(d, first, last, false, r.related) {
			d.Link = r.link
			d.Shortened = r.shortens
			return
		}
	}
	switch {
	case l.useMerged(d, first, last):
		d.Link = LinkNamed
	case l.useNamed(d, first, last, true, isFollowUp):
		d.Link = LinkDerived
	case slices.ContainsFunc(l.Replies[first:last+1], func(r Reply) bool {
		return !r.readable
	}):
		d.Link = LinkUnknown
		d.cut = true
	case l.useNamed(d, 0, first-1, false, (*Act).SameRequest):
		d.Link = LinkStale
	case l.useNamed(d, first, last, false, isSameTool):
		d.Link = LinkOverride
	default:
		d.Link = LinkNone
	}
}

// useNamed finds the newest call in the replies first to last that the logged request d carries out
// by the test related. It sets d.Reply to the call's reply and returns true, or returns false if
// there is none. A call is used up once all its items are requested; calls that are used up are
// skipped unless again is true.
func (l *ProxyLog) useNamed(
	d *Dispatch,
	first, last int,
	again bool,
	related relation,
) bool {
	for i := last; i >= first && i >= 0; i-- {
		for j := range l.Replies[i].Named {
			named := &l.Replies[i].Named[j]
			if named.Used && !again || !related(named, &d.Act) {
				continue
			}
			named.Used = !takePart(named, &d.Act)
			named.Started = true
			d.Reply = i
			return true
		}
	}
	return false
}

// takePart handles a logged request req for some items of the call named, since clients open items
// one by one. It removes these items from named and returns true if any remain to be opened. For
// tools that do not open items it changes nothing and returns false.
func takePart(named, req *Act) bool {
	takesSome := named.Tool == ToolView || named.Tool == ToolOther
	if !takesSome || len(req.IDs) >= len(named.IDs) {
		return false
	}
	isSent := func(id string) bool { return slices.Contains(req.IDs, id) }
	named.IDs = slices.DeleteFunc(slices.Clone(named.IDs), isSent)
	return len(named.IDs) > 0
}

// useMerged handles a logged request for the details of several items for which the model made
// several calls. If unused calls in the replies first to last have all its items together, it marks
// these calls as used, sets d.Reply to the last of their replies and returns true. Otherwise
// d.Reply becomes -1 if the request has several items.
func (l *ProxyLog) useMerged(d *Dispatch, first, last int) bool {
	if d.Act.Tool != ToolView || len(d.Act.IDs) < 2 {
		return false
	}
	missing := slices.Clone(d.Act.IDs)
	var parts []*Act
	for i := max(first, 0); i <= last; i++ {
		for j := range l.Replies[i].Named {
			named := &l.Replies[i].Named[j]
			if named.Tool != ToolView || named.Used || !IsSubset(named.IDs, d.Act.IDs) {
				continue
			}
			missing = slices.DeleteFunc(missing, func(id string) bool {
				return slices.Contains(named.IDs, id)
			})
			parts = append(parts, named)
			d.Reply = i
		}
	}
	if len(missing) > 0 {
		d.Reply = -1
		return false
	}
	for _, named := range parts {
		named.Used = true
	}
	return true
}

// maxRetries is the maximum distance in logged requests between a request and its retry. The
// client of the sandbox tries at most ten times.
const maxRetries = 10

// linkRetry finds out whether the logged request i repeats a failed one: it finds the newest equal
// request before it, at most maxRetries requests back, and copies the reply that asked for it. It
// returns true if a reply asked for that earlier request, and false if none did or there is no
// equal request.
func (l *ProxyLog) linkRetry(i int) bool {
	d := &l.Dispatches[i]
	for j := i - 1; j >= 0 && j >= i-maxRetries; j-- {
		earlier := &l.Dispatches[j]
		if earlier.Act.SameRequest(&d.Act) {
			d.Reply = earlier.Reply
			return earlier.Link.isBound() || earlier.Link == LinkRetry
		}
	}
	return false
}

// isBound reports whether a link shows that the model asked for the logged request: in full, with
// small changes by the client, or as a part of a larger call.
func (k Link) isBound() bool { return k == LinkNamed || k == LinkLoose || k == LinkDerived }

// RichnessV1 returns the richness of an attempt by the first definition of the subnet: the share
// of logged requests whose tool was called by the last reply before them. Each call of a reply
// counts once, in order. It returns NaN if there are no requests.
func (l *ProxyLog) RichnessV1() float64 {
	counted := 0
	next := 0 // index in the queue of the current reply
	current := -1
	for i := range l.Dispatches {
		last := l.Dispatches[i].LastReply
		if last != current {
			current = last
			next = 0
		}
		if last < 0 || next >= len(l.Replies[last].queue) {
			continue
		}
		if l.Replies[last].queue[next] == l.Dispatches[i].Act.Tool {
			next++
			counted++
		}
	}
	return ratio(counted, len(l.Dispatches))
}

// NonceValid is the value of a log entry's nonce if the proxy found the request's nonce valid.
const NonceValid = "valid"

// RichnessV2 returns the richness of an attempt by the second definition of the subnet: the
// share of logged requests with a valid nonce. It returns NaN if there are no requests or no
// nonce in the log.
func (l *ProxyLog) RichnessV2() float64 {
	if !slices.ContainsFunc(l.Dispatches, func(d Dispatch) bool {
		return d.Call.Nonce != ""
	}) {
		return math.NaN()
	}
	valid := slicesx.CountFunc(l.Dispatches, func(d *Dispatch) bool {
		return d.Call.Nonce == NonceValid
	})
	return ratio(valid, len(l.Dispatches))
}
