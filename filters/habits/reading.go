package habits

import (
	"math"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// reading notes how far the attempt's calls hang on what came back: whether a
// search is followed by another in other words, and whether what was taken
// from below the top fits the request better than what was passed over.
func reading(a *evidence.Attempt, s *Sample) {
	for i := range a.Claims {
		c := &a.Claims[i]
		switch c.Act.Tool {
		case evidence.ToolFind:
			s.Excerpts += int(evidence.Flag(excerpt(a, c.Act.Words)))
			if i+1 < len(a.Claims) {
				search(a, s, c, &a.Claims[i+1])
			}
		case evidence.ToolView, evidence.ToolRecommend:
			for _, id := range c.Act.IDs {
				choice(a, s, i, id)
			}
		case evidence.ToolOther, evidence.ToolMatch, evidence.ToolShop, evidence.ToolVoucher, evidence.ToolTerminate:
		}
	}
}

// search counts a search by what it brought, and whether the next call searches
// for the same in other words.
func search(a *evidence.Attempt, s *Sample, c, next *evidence.Claim) {
	again := int(evidence.Flag(next.Act.Tool == evidence.ToolFind && sharesWord(c.Act.Words, next.Act.Words) && !evidence.SameHashes(c.Act.Words, next.Act.Words)))
	if a.Pad.Answers(c) {
		s.Good, s.GoodAgain = s.Good+1, s.GoodAgain+again
	} else {
		s.Poor, s.PoorAgain = s.Poor+1, s.PoorAgain+again
	}
}

func sharesWord(a, b []uint64) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}

// choice holds a product that claim i takes against those that stood above it
// in the latest list with it and were passed over.
func choice(a *evidence.Attempt, s *Sample, i int, id string) {
	for j := i - 1; j >= 0; j-- {
		list := &a.Claims[j]
		if list.Act.Tool != evidence.ToolFind {
			continue
		}
		if rank := evidence.IndexID(list.Shown, id); rank >= 0 {
			weigh(a, s, list, rank, a.Claims[i].Act.IDs)
			return
		}
	}
}

// weigh holds the product at that rank of a list, one of those taken, against
// those above it that were not.
func weigh(a *evidence.Attempt, s *Sample, list *evidence.Claim, rank int, taken []string) {
	if len(list.Titles) < len(list.Shown) {
		return
	}
	passed, sum := 0, 0
	for above, id := range list.Shown[:rank] {
		if !evidence.HasID(taken, id) {
			passed++
			sum += a.Pad.Fit(list, above)
		}
	}
	if passed == 0 {
		return
	}
	switch over := a.Pad.Fit(list, rank)*passed - sum; {
	case over > 0:
		s.Better++
	case over < 0:
		s.Worse++
	}
}

// excerpt reports whether a search is a piece of the request word for word. The whole
// request is none: a small model may search for just what it was asked.
func excerpt(a *evidence.Attempt, words []uint64) bool {
	request := a.Pad.Request.Words
	if len(words) < evidence.MinExcerpt || len(words) >= len(request) {
		return false
	}
	for i := 0; i+len(words) <= len(request); i++ {
		if evidence.SameHashes(words, request[i:i+len(words)]) {
			return true
		}
	}
	return false
}

// Unread is 0 where the agent's day shows results to reach its calls, else 1: it
// cites them, or searches again after poor results more than after good ones,
// or takes from below the top what fits better than what it passed over.
func (a *AgentStats) Unread() float64 {
	choice, _ := a.Better.Interval()
	return evidence.Flag(!a.cites() && choice <= 0.5 && !a.Poor.exceeds(a.Good))
}

// Chooses is how far what is taken from below the top of lists speaks against a
// plan or dice without being sure: dice take what fits worse, since lists are
// ordered by fit (0.18 to 0.51 of what they take fits better), and plans take
// nothing there; models that speak without names or numbers reach 0.51 to 0.65.
func (a *AgentStats) Chooses() float64 {
	if a.Better.Whole == 0 {
		return 0
	}
	return Ramp(a.Better.Share(), 0.5, 0.55) * Ramp(float64(a.Better.Whole), 12, 24)
}

// exceeds reports whether t's share is above o's, by the 95 % interval of their
// difference (Newcombe's method 10, from the two Wilson intervals).
func (t Tally) exceeds(o Tally) bool {
	if t.Whole == 0 || o.Whole == 0 {
		return false
	}
	lo, _ := t.Interval()
	_, hi := o.Interval()
	p, q := t.Share(), o.Share()
	return p-q > math.Hypot(p-lo, hi-q)
}
