package evidence

import (
	"math"
	"strings"
	"unicode/utf8"
)

// forgedReplies counts the ways in which the recorded replies of a log cannot
// be a server's: all equally quick, quicker than any model writes, or of fewer tokens
// than their text takes.
func (a *Attempt) forgedReplies() int {
	miscounted := 0
	for i := range a.Log.Replies {
		miscounted += int(Flag(a.Log.Replies[i].overfull))
	}
	return int(Flag(a.evenTimes()) + Flag(a.hurried() >= minHurried) + Flag(miscounted >= minHurried))
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
