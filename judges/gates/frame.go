package gates

import (
	"math/bits"
	"slices"
)

// A frame is the course of a passage with its data and its choice of words taken
// out: one sign for each figure, value and role that the lexicon knows, in their
// order. "9960 at 94 beats 1627, it is cheaper" and "5008 at 12 over 6777: less
// expensive" are one frame.
const (
	frameFigure = '#'
	frameValue  = 'v'
	// unframed are roles that any sentence may have anywhere.
	unframed = commonWord | thoughtWord | bigWord
)

// Frame is the frame of a passage, a byte a sign.
func Frame(text string) string {
	s := shelves.Get().(*shelf)
	defer s.release()
	p := passage{text: text[:min(len(text), maxPassage)]}
	p.scan(s)
	signs := p.signs()
	slices.SortStableFunc(signs, func(a, b sign) int { return int(a.start - b.start) })
	frame, end := make([]byte, 0, len(signs)), int32(0)
	for _, s := range signs {
		if s.start >= end {
			frame, end = append(frame, s.as), s.end
		}
	}
	return string(frame)
}

// sign is what a stretch of a passage is in its frame.
type sign struct {
	span
	as byte
}

// signs are those of the figures and of the lexicon's words; of words that begin
// at one place the longest, found last, goes first.
func (p *passage) signs() (all []sign) {
	for i := len(p.marks) - 1; i >= 0; i-- {
		m := &p.marks[i]
		switch class := m.class &^ unframed; {
		case m.concept != 0:
			all = append(all, sign{span{m.start, m.end}, frameValue})
		case class != 0:
			all = append(all, sign{span{m.start, m.end}, byte('a' + bits.TrailingZeros32(uint32(class)))})
		}
	}
	for i := range p.tokens {
		if t := &p.tokens[i]; t.number.end > 0 {
			all = append(all, sign{span{t.start, max(t.end, int32(t.number.end))}, frameFigure})
		}
	}
	return all
}
