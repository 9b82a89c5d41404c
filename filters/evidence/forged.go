package evidence

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// forgedReplies counts the ways in which the recorded replies of a log cannot
// be a server's: all equally quick, quicker than any model writes, or of fewer tokens
// than their text takes.
func (a *Attempt) forgedReplies() int {
	miscounted := slicesx.CountFunc(a.Log.Replies, func(r *Reply) bool { return r.overfull })
	hurried := slicesx.CountFunc(a.Log.Replies, func(r *Reply) bool { // of a stream the time may be that of its first piece
		return r.readable && !r.Copied && !r.streamed && r.written >= minWritten && r.Call.DurationMS > 0 && float64(r.written) > fastest*r.Call.DurationMS
	})
	return int(Flag(a.evenTimes()) + Flag(hurried >= minHurried) + Flag(miscounted >= minHurried))
}

// minEven is how many replies must take the same time for it to be no chance:
// with whole milliseconds that is about one in a thousand for each.
const minEven = 3

// evenTimes reports whether all replies took the same time although their lengths
// differ. Times in whole seconds are rounded and say nothing.
func (a *Attempt) evenTimes() bool {
	if len(a.Log.Replies) < minEven {
		return false
	}
	first, differ := a.Log.Replies[0].Call, false
	if first.DurationMS <= 0 || math.Mod(first.DurationMS, 1000) == 0 {
		return false
	}
	for i := range a.Log.Replies[1:] {
		c := a.Log.Replies[i+1].Call
		if c.DurationMS != first.DurationMS {
			return false
		}
		differ = differ || len(c.Response) != len(first.Response) || c.Length != first.Length
	}
	return differ
}

// minHurried is how many replies must be so: one may be a server's copy of an answer.
const minHurried = 2

// overfull reports whether a reply holds more signs than the tokens that its server
// counted can stand for, blanks left out.
func (p *Pad) overfull(m *completion) bool {
	most := densest * int(m.tokens)
	if most <= 0 || len(m.content)+p.argued <= max(most, minWritten) {
		return false
	}
	signs := utf8.RuneCountInString(strings.Join(strings.Fields(p.said(m.content)), ""))
	return signs+p.argued > max(most, minWritten)
}

// densest is how many signs a token stands for at most, on the mean of a reply. Of
// 13,229 replies of 64 signs and more, 5,471 of them real agents', none has above 5.8,
// by the tokenizers o200k and cl100k.
const densest = 8

// fastest, in bytes a millisecond, is some 5,000 tokens a second for one
// request, twice what the fastest servers sold in 2026 reach; minWritten, in
// bytes, leaves out answers of a word, whose time is all overhead.
const (
	fastest    = 20
	minWritten = 64
)

// causal are the moments of the replies by order alone, whatever their clock says:
// each just before the first dispatch it names that no reply before it took, one
// that names none just before the next. fits reports whether one that can be read does;
// apart whether one was asked for before the result that it follows, or after the
// dispatch that it names: what only began before its reply ended is a stream's, or
// clocks' that differ a little.
func (a *Attempt) causal() (replied []span, fits, apart bool) {
	replied = make([]span, len(a.Log.Replies))
	next := 0
	for i := range replied {
		replied[i].Start = math.NaN()
		for j := next; j < len(a.Log.Dispatches) && (j == next || a.Log.Replies[i].readable); j++ {
			if !a.asks(i, &a.Log.Dispatches[j]) {
				continue
			}
			before := a.Log.Dispatches[j].Start - a.Log.Slack - 1
			replied[i] = span{before, before}
			fits = fits || a.Log.Replies[i].readable
			apart = apart || a.moves(i, j)
			next = j + 1
			break
		}
	}
	after := span{math.MaxFloat64, math.MaxFloat64}
	for i := len(replied) - 1; i >= 0; i-- {
		if math.IsNaN(replied[i].Start) {
			replied[i] = after
		}
		after = replied[i]
	}
	last := len(replied) - 1
	return replied, fits, apart || replied[last].Start == math.MaxFloat64 && a.moves(last, len(a.Log.Dispatches))
}

// moves reports whether a reply that belongs between dispatch j and the one before
// it was not asked for in that time.
func (a *Attempt) moves(reply, j int) bool {
	r, all := &a.Log.Replies[reply], a.Log.Dispatches
	return j < len(all) && r.Start > all[j].Start+a.Log.Slack || j > 0 && r.Start+a.Log.Slack < all[j-1].End
}

// asks reports whether a reply names a dispatch, holds its words where none names any,
// or cannot be read and no later one asks.
func (a *Attempt) asks(reply int, d *Dispatch) bool {
	r := &a.Log.Replies[reply]
	if !r.readable {
		for later := reply + 1; later < len(a.Log.Replies); later++ {
			if a.Log.Replies[later].readable && a.asks(later, d) {
				return false
			}
		}
		return true
	}
	for _, named := range Each(r.Named) {
		for _, try := range binding {
			if try.same(named, &d.Act) {
				return true
			}
		}
		if follows(named, &d.Act) {
			return true
		}
	}
	return a.Log.nameless() && a.says(reply, &d.Act, nil) // which list was the newest, only times tell
}
