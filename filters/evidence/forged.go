package evidence

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Thresholds of replies that no server writes. fastest, in bytes a millisecond, is some
// 5,000 tokens a second for one request, twice the speed of the fastest servers sold in
// 2026. minWritten, in bytes, excludes short answers, whose time is all overhead.
const (
	fastest    = 20
	minWritten = 64
)

// minHurried is the minimum number of such replies: a single one may be a server's copy of
// an answer.
const minHurried = 2

// countForgeries returns the number of ways in which the replies of the log cannot be a
// server's: all equally quick, quicker than any model writes, or of fewer tokens than
// their text needs.
func (a *Attempt) countForgeries() int {
	n := 0
	if a.hasEvenTimes() {
		n++
	}
	if slicesx.CountFunc(a.Log.Replies, (*Reply).isHurried) >= minHurried {
		n++
	}
	if slicesx.CountFunc(a.Log.Replies, func(r *Reply) bool {
		return r.overfull
	}) >= minHurried {
		n++
	}
	return n
}

// isHurried reports whether the reply was written quicker than any model writes. The time
// of a stream may be that of its first piece only.
func (r *Reply) isHurried() bool {
	if !r.readable || r.Copied || r.streamed || r.size < minWritten {
		return false
	}
	return r.Call.DurationMS > 0 && float64(r.size) > fastest*r.Call.DurationMS
}

// minEven is the minimum number of replies that must take the same time for it to be no
// chance: with whole milliseconds that is about one in a thousand for each.
const minEven = 3

// hasEvenTimes reports whether all replies took the same time although their lengths
// differ. Times in whole seconds are rounded and prove nothing.
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

// densest is the limit of characters a token, as the mean of a reply. Of 13,229 replies of
// 64 characters and more, 5,471 of them real agents', none exceeds 5.8 by the tokenizers
// o200k and cl100k.
const densest = 8

// exceedsTokens reports whether a reply has more characters, without blanks, than the
// tokens that its server counted can encode.
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

// causality is the order of the replies by what they name, without regard to the clock.
type causality struct {
	// replies are the times of the replies by this order.
	replies []span
	// matched reports whether a readable reply names a dispatch.
	matched bool
	// clocksDiffer reports whether the log's times contradict the order.
	clocksDiffer bool
}

// causalOrder places each reply just before the first dispatch that it names and no
// earlier reply was placed at; a reply that names none just before the next reply. The
// clocks differ if a reply was requested before the result that it follows, or after the
// dispatch that it names. If only its end is too late, it was a stream, or the clocks
// differ a little.
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

// isOutOfOrder reports whether a reply that belongs between dispatch j and the one before
// it was not requested in that time.
func (a *Attempt) isOutOfOrder(reply, j int) bool {
	start := a.Log.Replies[reply].Start
	dispatches := a.Log.Dispatches
	if j < len(dispatches) && start > dispatches[j].Start+a.Log.Slack {
		return true
	}
	return j > 0 && start+a.Log.Slack < dispatches[j-1].End
}

// asksFor reports whether a reply names a dispatch, or contains its words if no reply
// names any. An unreadable reply asks for it unless a later readable one does.
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
	// The list numbers of products need times, which are not known here.
	return a.Log.hasUnknownForm() && a.replyMentions(reply, &d.Act, nil)
}
