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

// form says by what stands before them in the request which of its words a
// search uses, and in what order: "brand" before a brand, "of" before a
// material. Words that follow another word of the search belong to it; parts is
// how many do not. Other words are part of it as such.
func (a *attempt) form(words []uint64) (form uint64, parts int) {
	request := a.pad.request.words
	order, bag := uint64(fnvOffset), uint64(0)
	for _, w := range words {
		before := uint64(1)
		if at := slices.Index(request, w); at > 0 {
			before = request[at-1]
		}
		if before != 1 && slices.Contains(words, before) {
			continue
		}
		order, bag = mix(order, before), bag+mix(fnvOffset, before)
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
		return
	}
}
