package evidence

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Thresholds of replies that no model server can have written. fastest is the maximum plausible
// speed in bytes a millisecond: about 5,000 tokens a second for one request, twice the speed of
// the fastest servers of 2026. minWritten is the minimum length in bytes of a judged reply,
// since the time of shorter ones is mostly overhead.
const (
	fastest    = 20
	minWritten = 64
)

// minHurried is the minimum number of suspicious replies, written too quickly or with too much text
// for their tokens, that are evidence of a forged log. A single one may be from the server's cache.
const minHurried = 2

// countForgeries returns how many of three signs of forged replies the log shows: all replies
// take the same time, several were written quicker than any model writes, or several have more
// text than their counted tokens can encode.
func (a *Attempt) countForgeries() int {
	n := 0
	if a.hasEvenTimes() {
		n++
	}
	if slicesx.CountFunc(a.Log.Replies, (*Reply).isHurried) >= minHurried {
		n++
	}
	if a.Log.countsTokens() && slicesx.CountFunc(a.Log.Replies, func(r *Reply) bool {
		return r.overfull
	}) >= minHurried {
		n++
	}
	return n
}

// countsTokens reports whether the server counted the tokens of its replies. A server that
// reports the same number for all replies has a placeholder instead of a count, which says
// nothing about who wrote the replies.
func (l *ProxyLog) countsTokens() bool {
	first := int64(0)
	for i := range l.Replies {
		n := l.Replies[i].tokens
		if first > 0 && n > 0 && n != first {
			return true
		}
		first = max(first, n)
	}
	return false
}

// isHurried reports whether a reply was written quicker than any model writes. It returns false
// for streams, whose time may be that of the first piece only, and for copies of earlier
// replies.
func (r *Reply) isHurried() bool {
	if !r.readable || r.Copied || r.streamed || r.size < minWritten {
		return false
	}
	return r.Call.DurationMS > 0 && float64(r.size) > fastest*r.Call.DurationMS
}

// minEven is the minimum number of replies whose equal durations are evidence of forgery. Durations
// are in whole milliseconds, so each additional reply has the same one by chance in about one of a
// thousand cases.
const minEven = 3

// hasEvenTimes reports whether all replies took exactly the same time although their lengths
// differ. It returns false for fewer than minEven replies, and for times in whole seconds, which
// are rounded and prove nothing.
func (a *Attempt) hasEvenTimes() bool {
	if len(a.Log.Replies) < minEven {
		return false
	}
	first := a.Log.Replies[0].Call
	if first.DurationMS <= 0 || math.Mod(first.DurationMS, 1000) == 0 {
		return false
	}
	differ := false
	for i := range a.Log.Replies[1:] {
		c := a.Log.Replies[i+1].Call
		if c.DurationMS != first.DurationMS {
			return false
		}
		if len(c.Response) != len(first.Response) || c.Length != first.Length {
			differ = true
		}
	}
	return differ
}

// densest is the highest plausible number of characters per token in a reply. None of 13,229
// measured replies of 64 characters or more exceeds 5.8 with the tokenizers o200k and cl100k;
// 5,471 of them are of real agents.
const densest = 8

// exceedsTokens reports whether a reply has more characters, without blanks, than its counted
// tokens can encode at densest characters per token. It returns false if the server counted no
// tokens or the reply is shorter than minWritten.
func (s *scratch) exceedsTokens(m *completion) bool {
	limit := densest * int(m.tokens)
	if limit <= 0 {
		return false
	}
	limit = max(limit, minWritten)
	if len(m.content)+s.argumentBytes <= limit {
		return false // bytes are an upper bound of characters
	}
	characters := utf8.RuneCountInString(strings.Join(strings.Fields(s.contentText(m.content)), ""))
	return characters+s.argumentBytes > limit
}

// causality is an order of a model's replies that follows from the tool requests that they ask for.
// It does not depend on the times in the log, since the clocks of the log may be wrong.
type causality struct {
	// replies are artificial times that put the replies into this order.
	replies []span
	// matched reports whether at least one readable reply asks for a logged request.
	matched bool
	// clocksDiffer reports whether the log's times contradict the inferred order.
	clocksDiffer bool
}

// causalOrder orders the model's replies by the logged requests that they ask for. Each reply is
// placed just before the first such request after that of the previous reply. A reply that asks for
// none is placed with the next reply.
//
// clocksDiffer is set if, by the log's times, a reply was requested from the model before the
// result that the reply follows, or after the request that it asks for. A reply that only ends too
// late does not count: it was a stream, or the clocks differ a little.
func (a *Attempt) causalOrder() causality {
	c := causality{replies: make([]span, len(a.Log.Replies))}
	next := 0
	for i := range c.replies {
		c.replies[i].Start = math.NaN()
		for j := next; j < len(a.Log.Dispatches); j++ {
			if j > next && !a.Log.Replies[i].readable {
				break
			}
			if !a.asksFor(i, &a.Log.Dispatches[j]) {
				continue
			}
			before := a.Log.Dispatches[j].Start - a.Log.Slack - 1
			c.replies[i] = span{before, before}
			c.matched = c.matched || a.Log.Replies[i].readable
			c.clocksDiffer = c.clocksDiffer || a.isOutOfOrder(i, j)
			next = j + 1
			break
		}
	}

	after := span{math.MaxFloat64, math.MaxFloat64}
	for i := len(c.replies) - 1; i >= 0; i-- {
		if math.IsNaN(c.replies[i].Start) {
			c.replies[i] = after
		}
		after = c.replies[i]
	}
	last := len(c.replies) - 1
	if c.replies[last].Start == math.MaxFloat64 && a.isOutOfOrder(last, len(a.Log.Dispatches)) {
		c.clocksDiffer = true
	}
	return c
}

// isOutOfOrder reports whether the log's times contradict that a reply is between the logged
// requests j-1 and j: the reply was requested from the model before request j-1 ended or after
// request j started, by more than the tolerance Slack.
func (a *Attempt) isOutOfOrder(reply, j int) bool {
	start := a.Log.Replies[reply].Start
	dispatches := a.Log.Dispatches
	if j < len(dispatches) && start > dispatches[j].Start+a.Log.Slack {
		return true
	}
	return j > 0 && start+a.Log.Slack < dispatches[j-1].End
}

// asksFor reports whether a reply of the model contains a call that matches the logged request d.
// If no call can be read in any reply of the log, the words of the request in the reply are
// sufficient. An unreadable reply counts as asking, unless a later readable one asks for the
// request.
func (a *Attempt) asksFor(reply int, d *Dispatch) bool {
	r := &a.Log.Replies[reply]
	if !r.readable {
		for later := reply + 1; later < len(a.Log.Replies); later++ {
			if a.Log.Replies[later].readable && a.asksFor(later, d) {
				return false
			}
		}
		return true
	}
	for i := range r.Named {
		named := &r.Named[i]
		for _, l := range linkRelations {
			if l.related(named, &d.Act) {
				return true
			}
		}
		if isFollowUp(named, &d.Act) {
			return true
		}
	}
	// Positions in a list of items are not searched for: they depend on times, which are
	// unknown here.
	return a.Log.hasUnknownForm() && a.replyMentions(reply, &d.Act, nil)
}
