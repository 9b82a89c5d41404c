package evidence

import "math"

// forgedReplies counts the ways in which the recorded replies of a log cannot
// be a server's: all equally quick, or quicker than any model writes.
func (a *Attempt) forgedReplies() int {
	return int(Flag(a.evenTimes()) + Flag(a.hurried() >= minHurried))
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
	first, differ := a.Log.Replies[0].call, false
	if first.DurationMS <= 0 || math.Mod(first.DurationMS, 1000) == 0 {
		return false
	}
	for i := range a.Log.Replies[1:] {
		c := a.Log.Replies[i+1].call
		if c.DurationMS != first.DurationMS {
			return false
		}
		differ = differ || len(c.Response) != len(first.Response) || c.Length != first.Length
	}
	return differ
}

// minHurried is how many replies must have come too quickly: one may be a
// server's copy of an answer that it gave before.
const minHurried = 2

// hurried counts replies that came quicker than a model writes. A stream is
// left out: its time may be that of its first piece.
func (a *Attempt) hurried() (n int) {
	for i := range a.Log.Replies {
		r := &a.Log.Replies[i]
		if r.readable && !r.Copied && !r.streamed && r.written >= minWritten && r.call.DurationMS > 0 && float64(r.written) > fastest*r.call.DurationMS {
			n++
		}
	}
	return n
}

// fastest, in bytes a millisecond, is some 5,000 tokens a second for one
// request, twice what the fastest servers sold in 2026 reach; minWritten, in
// bytes, leaves out answers of a word, whose time is all overhead.
const (
	fastest    = 20
	minWritten = 64
)
