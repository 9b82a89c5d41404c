package habits

import (
	"iter"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
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
	// Asks is Tools without the calculator of vouchers, which asks the shop for
	// nothing: requests with a voucher call for it, whoever acts. Begun is the
	// first of them, chosen before there was any result.
	Asks  uint64 `json:"asks"`
	Begun int    `json:"begun"`
	// Slots is how many products were recommended; Blank says that the first
	// search found nothing.
	Slots int  `json:"slots"`
	Blank bool `json:"blank,omitempty"`
	// Views counts openings and matchings of products after a search, TopViews those that took
	// the first ones in rank order.
	Views    int `json:"views"`
	TopViews int `json:"top_views"`
	// Picks counts recommended products that a search had shown, FirstPicks
	// those that stood first in one.
	Picks      int `json:"picks"`
	FirstPicks int `json:"first_picks"`
	// Openings counts openings of some of the products of a list, but for the
	// first ones of a list that the shop was asked to sort; Cheapest, Dearest and
	// BestSold those of them that take just the first ones in that order.
	Openings int `json:"openings"`
	Cheapest int `json:"cheapest"`
	Dearest  int `json:"dearest"`
	BestSold int `json:"best_sold"`
	// Asked is 1 where the shop was asked after a reply, Overridden where a reply
	// named the tool with other arguments, or a call out of the middle of its list
	// was sent alone.
	Asked      int `json:"asked"`
	Overridden int `json:"overridden"`
	// Judged counts turns that ask models and then search, AtOnce those with one
	// reply, Refused those in which calls that could have been sent were turned
	// down again and again.
	Judged  int `json:"judged"`
	AtOnce  int `json:"at_once"`
	Refused int `json:"refused"`
	// Course is how many products every opening out of a longer list takes, where
	// that is one number above one and nothing leads back to a search or another
	// opening; -1 where it is not, 0 where nothing is opened so.
	Course int `json:"course"`
	// Breadth is how many products every opening after a longer list takes, -1
	// where that is not one number, 0 where nothing is opened so.
	Breadth int `json:"breadth"`
	// Forms are how searches are put together out of the request: in the upper
	// half a hash of which words of it they use, in the lower one of their order;
	// at most maxForms.
	Forms []uint64 `json:"forms,omitempty"`
	// Turns counts turns that act after a result, Cited those of them whose words
	// hold a number out of a result that the request does not hold.
	Turns int `json:"turns"`
	Cited int `json:"cited"`
	// Spoken counts those of the turns that open or recommend products after
	// thinking aloud, SpokenCited those of them that cite a number or a word of a
	// title.
	Spoken      int `json:"spoken"`
	SpokenCited int `json:"spoken_cited"`
	// Searches counts searches, Excerpts those cut out of the request word for
	// word.
	Searches int `json:"searches"`
	Excerpts int `json:"excerpts"`
	// Good and Poor count searches by what they brought; GoodAgain and PoorAgain
	// those followed by a search for the same in other words.
	Good      int `json:"good"`
	GoodAgain int `json:"good_again"`
	Poor      int `json:"poor"`
	PoorAgain int `json:"poor_again"`
	// Better and Worse count products taken from below the top of a list that
	// fit the request better, or worse, than those passed over.
	Better int `json:"better"`
	Worse  int `json:"worse"`
	// Invented counts products that replies named although no result held them,
	// Prescient those of them that the shop turned out to have.
	Invented  int `json:"invented"`
	Prescient int `json:"prescient"`
	// Numbers counts numbers in thoughts that no call of the agent's holds,
	// Ungrounded those that neither the request nor an earlier result holds. IDs
	// counts products in calls, UnseenIDs those that nothing before had shown,
	// Foreknown searches with a word of the answer that nothing before held.
	Numbers    int `json:"numbers"`
	Ungrounded int `json:"ungrounded"`
	IDs        int `json:"ids"`
	UnseenIDs  int `json:"unseen_ids"`
	Foreknown  int `json:"foreknown"`
	// Taken are hashes of the recommended products that results held, Unseen of
	// those that none did; at most maxTaken of each.
	Taken  []uint64 `json:"taken,omitempty"`
	Unseen []uint64 `json:"unseen,omitempty"`
	// Thoughts are hashes of the skeletons of what was thought before products
	// were taken, at most maxThoughts.
	Thoughts []uint64 `json:"thoughts,omitempty"`
}

// maxTaken bounds the products of one recommendation; requests ask for at most
// three or four.
const maxTaken = 8

// maxThoughts bounds the thoughts of one sample; attempts have some ten.
const maxThoughts = 32

// SampleOf is what the second pass needs of an attempt, whose first pass ended so.
func SampleOf(a *evidence.Attempt, score float64, decides bool, axis arena.Axis) Sample {
	s := Sample{
		Attempt: evidence.HashText(a.Trace.ID), Query: evidence.HashText(a.Trace.Query),
		Score: score, Evidence: decides, Axis: axis,
		Invented: a.InventedNamed, Prescient: a.Prescient,
	}
	s.Asked = int(evidence.Flag(len(a.Log.Dispatches) > 0 && len(a.Log.Replies) > 0))
	s.Overridden = int(evidence.Flag(a.Links[evidence.LinkOverride] > 0 || pickedAmid(&a.Log)))
	refusals(a, &s)
	habits(a, &s)
	answer(a, &s)
	reading(a, &s)
	plan(a, &s)
	citations(a, &s)
	grounding(a, &s)
	return s
}

// habits notes what the attempt's calls chose among what they were shown.
func habits(a *evidence.Attempt, s *Sample) {
	lists := make([][]string, 0, len(a.Claims))
	asked, searched := false, false
	for i := range a.Claims {
		c := &a.Claims[i]
		asked = asked || c.Act.Tool.Catalogue()
		s.sequence(c.Act.Tool)
		s.Episode = evidence.Mix(s.Episode, hash(&c.Act))
		if !searched && (c.Act.Tool == evidence.ToolFind || c.Act.Tool == evidence.ToolShop) {
			s.Blank, searched = len(c.Shown) == 0, true
		}
		switch c.Act.Tool {
		case evidence.ToolFind:
			if s.Searches++; len(c.Shown) > 0 {
				lists = append(lists, c.Shown)
			}
		case evidence.ToolView, evidence.ToolMatch:
			if len(lists) > 0 && len(c.Act.IDs) > 0 {
				s.Views++
				s.TopViews += int(evidence.Flag(leads(lists, c.Act.IDs)))
				s.open(len(c.Act.IDs), len(lists[len(lists)-1]))
				opening(a, s, i)
			}
		case evidence.ToolRecommend:
			s.Slots = len(c.Act.IDs)
			top := leads(lists, c.Act.IDs)
			for _, id := range c.Act.IDs {
				shown, first := ranked(lists, id)
				s.Picks += int(evidence.Flag(shown))
				s.FirstPicks += int(evidence.Flag(first || top))
			}
		case evidence.ToolOther, evidence.ToolShop, evidence.ToolVoucher, evidence.ToolTerminate:
		}
	}
	if !asked {
		s.Episode = 0
	}
}

// sequence adds a call to the sequences of tools.
func (s *Sample) sequence(t evidence.Tool) {
	s.Tools = evidence.Mix(s.Tools, uint64(t)+1)
	if t == evidence.ToolVoucher {
		return
	}
	if s.Asks == 0 {
		s.Begun = int(t)
	}
	s.Asks = evidence.Mix(s.Asks, uint64(t)+1)
}

// open notes an opening of n products after a list of so many; who opens all of
// it had no choice.
func (s *Sample) open(n, of int) {
	switch {
	case n >= of:
	case s.Breadth == 0:
		s.Breadth = n
	case s.Breadth != n:
		s.Breadth = -1
	}
}

// answer notes which products were recommended, and which of them no result
// held.
func answer(a *evidence.Attempt, s *Sample) {
	if a.Recommended == nil {
		return
	}
	ids := a.Recommended.Act.IDs
	for _, id := range ids[:min(len(ids), maxTaken)] {
		switch {
		case a.Known(id, len(a.Claims)):
			s.Taken = append(s.Taken, evidence.HashText(id))
		case !written(a, id):
			s.Unseen = append(s.Unseen, evidence.HashText(id))
		}
	}
}

// written reports whether a result holds the id in words of its own: a client that
// gives its model text for lists.
func written(a *evidence.Attempt, id string) bool {
	for i := range a.Claims {
		if strings.Contains(string(a.Claims[i].Call.Result), id) && a.Claims[i].Act.Tool != evidence.ToolRecommend {
			return true
		}
	}
	return false
}

// citations counts the turns that speak of what came back.
func citations(a *evidence.Attempt, s *Sample) {
	s.Thoughts = make([]uint64, 0, min(len(a.Dialogue.Turns), maxThoughts))
	seen := 0 // claims before this turn
	for i := range a.Dialogue.Turns {
		turn := &a.Dialogue.Turns[i]
		if len(turn.Calls) == 0 {
			continue
		}
		if seen > 0 {
			cited := int(evidence.Flag(cites(a, turn.Think, seen) || cites(a, turn.Text, seen)))
			s.Turns, s.Cited = s.Turns+1, s.Cited+cited
			if len(turn.Think)+len(turn.Text) >= minThought && takes(a, seen, len(turn.Calls)) {
				if cited == 0 && (quotes(a, turn.Think, seen) || quotes(a, turn.Text, seen)) {
					cited = 1
				}
				s.Spoken, s.SpokenCited = s.Spoken+1, s.SpokenCited+cited
				thought(a, s, turn.Think)
			}
		}
		seen = min(seen+len(turn.Calls), len(a.Claims))
	}
}

// thought notes the skeleton of a thought long enough to be a template.
func thought(a *evidence.Attempt, s *Sample, think string) {
	if len(s.Thoughts) == maxThoughts {
		return
	}
	if h, letters := skeleton(a, think); letters >= minThought {
		s.Thoughts = append(s.Thoughts, h)
	}
}

// takes reports whether one of n claims from the given one on takes products out of
// results.
func takes(a *evidence.Attempt, from, n int) bool {
	for i := from; i < min(from+n, len(a.Claims)); i++ {
		switch a.Claims[i].Act.Tool {
		case evidence.ToolView, evidence.ToolMatch, evidence.ToolRecommend:
			return true
		case evidence.ToolOther, evidence.ToolFind, evidence.ToolShop, evidence.ToolVoucher, evidence.ToolTerminate:
		}
	}
	return false
}

// cites reports whether text holds a number of three digits or more that stands in
// one of the first results and not in the request. Numbers read the same in
// every language.
func cites(a *evidence.Attempt, text string, results int) bool {
	for number := range numbers(text) {
		if !strings.Contains(a.Query, number) && returned(a, number, results) {
			return true
		}
	}
	return false
}

// numbers yields what stands in text with three digits or more.
func numbers(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(text); {
			if text[i] < '0' || text[i] > '9' {
				i++
				continue
			}
			from, digits := i, 0
			for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9') {
				digits += int(evidence.Flag(text[i] != '.'))
				i++
			}
			if digits >= 3 && !yield(text[from:i]) {
				return
			}
		}
	}
}

// quotes reports whether text holds a word out of the titles of the first results that
// the request does not hold, such as a brand. It is asked with ever more results.
func quotes(a *evidence.Attempt, text string, results int) bool {
	for ; a.Titled < results; a.Titled++ {
		for _, title := range a.Claims[a.Titled].Titles {
			a.Pad.Titles = evidence.AppendWords(a.Pad.Titles, title)
		}
	}
	a.Pad.Scratch = evidence.AppendWords(a.Pad.Scratch[:0], text[:min(len(text), maxQuoted)])
	for _, word := range a.Pad.Scratch {
		if !a.Pad.Request.Has(word) && slices.Contains(a.Pad.Titles, word) {
			return true
		}
	}
	return false
}

// maxQuoted is how much of a text is searched for words out of titles.
const maxQuoted = 4 << 10

func returned(a *evidence.Attempt, number string, results int) bool {
	for i := results - 1; i >= 0; i-- { // the newest is what most is said of
		if a.Searched += len(a.Claims[i].Call.Result); a.Searched > maxSearched {
			return false
		}
		if strings.Contains(string(a.Claims[i].Call.Result), number) {
			return true
		}
	}
	return false
}

// maxSearched bounds the bytes of results that are searched for citations; an
// attempt of usual size comes to a hundredth of it.
const maxSearched = 64 << 20

// leads reports whether ids are the first ones of a list. Their own order does not
// count: a program shuffles for nothing.
func leads(lists [][]string, ids []string) bool {
	for _, l := range lists {
		if len(ids) <= len(l) && evidence.SameIDs(l[:len(ids)], ids) {
			return true
		}
	}
	return false
}

func ranked(lists [][]string, id string) (shown, first bool) {
	for _, l := range lists {
		at := evidence.IndexID(l, id)
		shown, first = shown || at >= 0, first || at == 0
	}
	return shown, first
}

// hash covers everything that an act asks for.
func hash(a *evidence.Act) uint64 {
	h := evidence.Mix(uint64(a.Tool)+1, uint64(a.Page))
	for _, w := range a.Words {
		h = evidence.Mix(h, w)
	}
	for _, id := range a.IDs {
		h = evidence.Mix(h, evidence.HashText(id))
	}
	return evidence.Mix(h, a.Shop^a.Service^a.Sort^a.Rest)
}

// minThought is how many letters make a thought that can be a template: "Let me
// search." returns in anybody's day.
const minThought = 24

// skeleton hashes a thought with the words of the request and all numbers left
// out, so that one template with other products and prices in its slots is one
// skeleton. letters counts what is left.
func skeleton(a *evidence.Attempt, think string) (h uint64, letters int) {
	h = evidence.HashSeed
	for i := 0; i < len(think); {
		word, digits, n := evidence.NextWord(think[i:])
		if n > 0 && !digits && !a.Pad.Request.Has(word) {
			h = evidence.Mix(h, word)
			letters += n
		}
		i += max(n, 1) // what parts words does not count
	}
	return h, letters
}
