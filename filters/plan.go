package filters

import (
	"math"
	"slices"
)

// maxForms bounds the searches of one attempt whose form is kept; attempts have
// some five.
const maxForms = 16

// plan notes how searches are put together.
func (a *attempt) plan(s *Sample) {
	if s.Searches > 0 {
		s.Forms = make([]uint64, 0, min(s.Searches, maxForms))
	}
	for i := range a.claims {
		if c := &a.claims[i]; c.act.tool == toolFind && len(s.Forms) < maxForms {
			if form, parts := a.form(c.act.words); parts > 1 {
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
func (a *attempt) form(words []uint64) (form uint64, parts int) {
	request := a.pad.request.words
	order, bag, next := uint64(fnvOffset), uint64(0), -1
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
			before = mix(request[from], uint64(at-from))
		}
		order, bag, next = mix(order, before), bag+mix(fnvOffset, before), at+1
		parts++
	}
	return bag<<32 | order&math.MaxUint32, parts
}

// opening notes whether claim i opens just the first products of its list by
// price or by sales. Who has the shop sort and opens the first is left out: the
// order is then the request's, not a program's.
func (a *attempt) opening(s *Sample, i int) {
	ids := a.claims[i].act.ids
	for j := i - 1; j >= 0; j-- {
		list := &a.claims[j]
		if list.act.tool != toolFind || !subset(ids, list.shown) {
			continue
		}
		sorted := list.act.sort != 0 && sameIDs(ids, list.shown[:min(len(ids), len(list.shown))])
		if len(ids) < len(list.shown) && !sorted {
			cheapest, dearest := list.takesEnd(ids, list.prices)
			_, bestSold := list.takesEnd(ids, list.sales)
			s.Openings++
			s.Cheapest += int(flag(cheapest))
			s.Dearest += int(flag(dearest))
			s.BestSold += int(flag(bestSold))
		}
		if len(ids) < len(list.shown) {
			s.follow(len(ids), a.leadsBack(i, list))
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
func (a *attempt) leadsBack(i int, list *claim) bool {
	for j := i + 1; j < len(a.claims); j++ {
		next := &a.claims[j]
		if next.turn == a.claims[i].turn || !next.act.tool.catalogue() {
			continue
		}
		return next.act.tool != toolFind || related(list.act.words, next.act.words)
	}
	return false
}

// related reports whether two searches share at least half of the shorter one's words.
func related(a, b []uint64) bool {
	shared := 0
	for _, w := range a {
		shared += int(flag(slices.Contains(b, w)))
	}
	return 2*shared >= min(len(a), len(b))
}
