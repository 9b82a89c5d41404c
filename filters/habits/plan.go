package habits

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// maxForms bounds the searches of one attempt whose form is kept; attempts have
// some five.
const maxForms = 16

// plan notes how searches are put together.
func plan(a *evidence.Attempt, s *Sample) {
	if s.Searches > 0 {
		s.Forms = make([]uint64, 0, min(s.Searches, maxForms))
	}
	for i := range a.Claims {
		if c := &a.Claims[i]; c.Act.Tool == evidence.ToolFind && len(s.Forms) < maxForms {
			if form, parts := form(a, c.Act.Words); parts > 1 {
				s.Forms = append(s.Forms, form)
			}
		}
	}
}

// form says which words of the request a search uses, and in what order. A word
// is told by the last one before it in the request that the search leaves out,
// and by how far that is away: "brand" before a brand, "of" before a material,
// "a" before what is sought or, with the brand between, two words before it.
// What goes on as the request does belongs to the word before; parts is how many
// words do not. Other words are part of it as such.
func form(a *evidence.Attempt, words []uint64) (form uint64, parts int) {
	request := a.Pad.Request.Words
	order, bag, next := uint64(evidence.HashSeed), uint64(0), -1
	for _, w := range words {
		at := slices.Index(request, w)
		if at > 0 && at == next {
			next++
			continue
		}
		before := uint64(1)
		if at > 0 {
			from := at - 1
			for from > 0 && slices.Contains(words, request[from]) {
				from--
			}
			before = evidence.Mix(request[from], uint64(at-from))
		}
		order, bag, next = evidence.Mix(order, before), bag+evidence.Mix(evidence.HashSeed, before), at+1
		parts++
	}
	return bag<<32 | order&math.MaxUint32, parts
}

// opening notes whether claim i opens just the first products of its list by
// price or by sales. Who has the shop sort and opens the first is left out: the
// order is then the request's, not a program's.
func opening(a *evidence.Attempt, s *Sample, i int) {
	ids := a.Claims[i].Act.IDs
	for j := i - 1; j >= 0; j-- {
		list := &a.Claims[j]
		if list.Act.Tool != evidence.ToolFind || !evidence.Subset(ids, list.Shown) {
			continue
		}
		sorted := list.Act.Sort != 0 && evidence.SameIDs(ids, list.Shown[:min(len(ids), len(list.Shown))])
		if len(ids) < len(list.Shown) && !sorted {
			cheapest, dearest := list.TakesEnd(ids, list.Prices)
			_, bestSold := list.TakesEnd(ids, list.Sales)
			s.Openings++
			s.Cheapest += int(evidence.Flag(cheapest))
			s.Dearest += int(evidence.Flag(dearest))
			s.BestSold += int(evidence.Flag(bestSold))
		}
		if len(ids) < len(list.Shown) {
			s.follow(len(ids), leadsBack(a, i, list))
		}
		return
	}
}

// follow notes an opening of n products out of a longer list. Who opens one at a
// time shows no habit by it: small models do.
func (s *Sample) follow(n int, leadsBack bool) {
	if leadsBack || n < 2 || s.Course != 0 && s.Course != n {
		n = -1
	}
	s.Course = n
}

// leadsBack reports whether what claim i opened out of the list is followed, in a later
// turn, by another opening or by a search that shares half of its words with the
// one before.
func leadsBack(a *evidence.Attempt, i int, list *evidence.Claim) bool {
	for j := i + 1; j < len(a.Claims); j++ {
		next := &a.Claims[j]
		if next.Turn == a.Claims[i].Turn || !next.Act.Tool.Catalogue() {
			continue
		}
		return next.Act.Tool != evidence.ToolFind || related(list.Act.Words, next.Act.Words)
	}
	return false
}

// related reports whether two searches share at least half of the shorter one's words.
func related(a, b []uint64) bool {
	shared := 0
	for _, w := range a {
		shared += int(evidence.Flag(slices.Contains(b, w)))
	}
	return 2*shared >= min(len(a), len(b))
}
