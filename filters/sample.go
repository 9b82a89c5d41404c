package filters

import (
	"strings"

	"github.com/trajectory-arena/arena"
)

// Sample is what the second pass needs to know of one attempt: counts and
// hashes, no text, at most a few kilobytes.
type Sample struct {
	// Attempt names the attempt, Query the request.
	Attempt uint64 `json:"attempt"`
	Query   uint64 `json:"query"`
	// Score is the log-odds of the first pass; Evidence whether it decides.
	Score    float64    `json:"score"`
	Evidence bool       `json:"evidence"`
	Axis     arena.Axis `json:"axis"`
	// Episode is a hash of all calls with their arguments, 0 where the shop was
	// not asked; Tools is one of the tools alone, in order.
	Episode uint64 `json:"episode"`
	Tools   uint64 `json:"tools"`
	// Slots is how many products were recommended.
	Slots int `json:"slots"`
	// Views counts openings and matchings of products after a search, TopViews those that took
	// the first ones in rank order.
	Views    int `json:"views"`
	TopViews int `json:"top_views"`
	// Picks counts recommended products that a search had shown, FirstPicks
	// those that stood first in one.
	Picks      int `json:"picks"`
	FirstPicks int `json:"first_picks"`
	// Turns counts turns that act after a result, Cited those of them whose words
	// hold a number out of a result that the request does not hold.
	Turns int `json:"turns"`
	Cited int `json:"cited"`
	// Thoughts are hashes of the skeletons of thinking, at most maxThoughts.
	Thoughts []uint64 `json:"thoughts,omitempty"`
}

// maxThoughts bounds the thoughts of one sample; attempts have some ten.
const maxThoughts = 32

func (a *attempt) sample(score float64, evidence bool, axis arena.Axis) Sample {
	s := Sample{
		Attempt: hashText(a.trace.ID), Query: hashText(a.trace.Query),
		Score: score, Evidence: evidence, Axis: axis,
	}
	a.habits(&s)
	a.citations(&s)
	s.Thoughts = make([]uint64, 0, min(len(a.dialogue.Turns), maxThoughts))
	for i := range a.dialogue.Turns {
		if think := a.dialogue.Turns[i].Think; think != "" && len(s.Thoughts) < maxThoughts {
			s.Thoughts = append(s.Thoughts, skeleton(think))
		}
	}
	return s
}

// habits notes what the attempt's calls chose among what they were shown.
func (a *attempt) habits(s *Sample) {
	lists := make([][]string, 0, len(a.claims))
	asked := false
	for i := range a.claims {
		c := &a.claims[i]
		asked = asked || c.act.tool.catalogue()
		s.Tools = mix(s.Tools, uint64(c.act.tool)+1)
		s.Episode = mix(s.Episode, c.act.hash())
		switch c.act.tool {
		case toolFind:
			if len(c.shown) > 0 {
				lists = append(lists, c.shown)
			}
		case toolView, toolMatch:
			if len(lists) > 0 && len(c.act.ids) > 0 {
				s.Views++
				s.TopViews += int(flag(leads(lists, c.act.ids)))
			}
		case toolRecommend:
			s.Slots = len(c.act.ids)
			for _, id := range c.act.ids {
				shown, first := ranked(lists, id)
				s.Picks += int(flag(shown))
				s.FirstPicks += int(flag(first))
			}
		case toolOther, toolShop, toolVoucher, toolTerminate:
		}
	}
	if !asked {
		s.Episode = 0
	}
}

// citations counts the turns that speak of what came back.
func (a *attempt) citations(s *Sample) {
	seen := 0 // claims before this turn
	for i := range a.dialogue.Turns {
		turn := &a.dialogue.Turns[i]
		if len(turn.Calls) == 0 {
			continue
		}
		if seen > 0 {
			s.Turns++
			s.Cited += int(flag(a.cites(turn.Think, seen) || a.cites(turn.Text, seen)))
		}
		seen = min(seen+len(turn.Calls), len(a.claims))
	}
}

// cites says that text holds a number of three digits or more that stands in
// one of the first results and not in the request. Numbers read the same in
// every language.
func (a *attempt) cites(text string, results int) bool {
	for i := 0; i < len(text); {
		if text[i] < '0' || text[i] > '9' {
			i++
			continue
		}
		from, digits := i, 0
		for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9') {
			digits += int(flag(text[i] != '.'))
			i++
		}
		if number := text[from:i]; digits >= 3 && !strings.Contains(a.query, number) && a.returned(number, results) {
			return true
		}
	}
	return false
}

func (a *attempt) returned(number string, results int) bool {
	for i := range a.claims[:results] {
		if a.searched += len(a.claims[i].call.Result); a.searched > maxSearched {
			return false
		}
		if strings.Contains(string(a.claims[i].call.Result), number) {
			return true
		}
	}
	return false
}

// maxSearched bounds the bytes of results that are searched for citations; an
// attempt of usual size comes to a hundredth of it.
const maxSearched = 64 << 20

// leads says that ids are the first ones of a list, in its order.
func leads(lists [][]string, ids []string) bool {
	for _, l := range lists {
		if len(ids) <= len(l) && equalIDs(l[:len(ids)], ids) {
			return true
		}
	}
	return false
}

func equalIDs(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func ranked(lists [][]string, id string) (shown, first bool) {
	for _, l := range lists {
		for i, x := range l {
			if x == id {
				shown = true
				first = first || i == 0
			}
		}
	}
	return shown, first
}

// hash covers everything that an act asks for.
func (a *act) hash() uint64 {
	h := mix(uint64(a.tool)+1, uint64(a.page))
	for _, w := range a.words {
		h = mix(h, w)
	}
	for _, id := range a.ids {
		h = mix(h, hashText(id))
	}
	return mix(h, a.shop^a.service^a.sort^a.rest)
}

// skeleton hashes a thought with its numbers left out, so that one template
// with other ids and prices is one skeleton.
func skeleton(think string) uint64 {
	h := uint64(fnvOffset)
	number := false
	for i := 0; i < len(think); i++ {
		c := think[i]
		if c >= '0' && c <= '9' || number && (c == '.' || c == ',') {
			number = true
			continue
		}
		if number {
			h = (h ^ '#') * fnvPrime
			number = false
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		h = (h ^ uint64(c)) * fnvPrime
	}
	return h
}
