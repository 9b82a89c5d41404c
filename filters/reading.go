package filters

import "math"

// reading notes how far the attempt's calls hang on what came back: whether a
// search is followed by another in other words, and whether what was taken
// from below the top fits the request better than what was passed over.
func (a *attempt) reading(s *Sample) {
	for i := range a.claims {
		c := &a.claims[i]
		switch c.act.tool {
		case toolFind:
			s.Excerpts += int(flag(a.excerpt(c.act.words)))
			if i+1 < len(a.claims) {
				a.search(s, c, &a.claims[i+1])
			}
		case toolView, toolRecommend:
			for _, id := range c.act.ids {
				a.choice(s, i, id)
			}
		case toolOther, toolMatch, toolShop, toolVoucher, toolTerminate:
		}
	}
}

// search counts a search by what it brought, and whether the next call searches
// for the same in other words.
func (a *attempt) search(s *Sample, c, next *claim) {
	again := int(flag(next.act.tool == toolFind && sharesWord(c.act.words, next.act.words) && !sameHashes(c.act.words, next.act.words)))
	if a.pad.answers(c) {
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
func (a *attempt) choice(s *Sample, i int, id string) {
	for j := i - 1; j >= 0; j-- {
		list := &a.claims[j]
		if list.act.tool != toolFind {
			continue
		}
		if rank := indexID(list.shown, id); rank >= 0 {
			a.weigh(s, list, rank, a.claims[i].act.ids)
			return
		}
	}
}

// weigh holds the product at that rank of a list, one of those taken, against
// those above it that were not.
func (a *attempt) weigh(s *Sample, list *claim, rank int, taken []string) {
	if len(list.titles) < len(list.shown) {
		return
	}
	passed, sum := 0, 0
	for above, id := range list.shown[:rank] {
		if !hasID(taken, id) {
			passed++
			sum += a.pad.fit(list, above)
		}
	}
	if passed == 0 {
		return
	}
	switch over := a.pad.fit(list, rank)*passed - sum; {
	case over > 0:
		s.Better++
	case over < 0:
		s.Worse++
	}
}

// minExcerpt is how many words in a row, taken from the request, are a cut-out
// and no wording: brands and names of things run to four.
const minExcerpt = 5

// excerpt reports whether a search is a piece of the request word for word. The whole
// request is none: a small model may search for just what it was asked.
func (a *attempt) excerpt(words []uint64) bool {
	request := a.pad.request.words
	if len(words) < minExcerpt || len(words) >= len(request) {
		return false
	}
	for i := 0; i+len(words) <= len(request); i++ {
		if sameHashes(words, request[i:i+len(words)]) {
			return true
		}
	}
	return false
}

// unread is 0 where the agent's day shows results to reach its calls, else 1: it
// cites them, or searches again after poor results more than after good ones,
// or takes from below the top what fits better than what it passed over.
func (a *AgentStats) unread() float64 {
	choice, _ := a.Better.Interval()
	return flag(!a.cites() && choice <= 0.5 && !a.Poor.exceeds(a.Good))
}

// chooses is how far what is taken from below the top of lists speaks against a
// plan or dice without being sure: dice take what fits worse, since lists are
// ordered by fit (0.18 to 0.51 of what they take fits better), and plans take
// nothing there; models that speak without names or numbers reach 0.51 to 0.65.
func (a *AgentStats) chooses() float64 {
	if a.Better.Whole == 0 {
		return 0
	}
	return ramp(a.Better.Share(), 0.5, 0.55) * ramp(float64(a.Better.Whole), 12, 24)
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
