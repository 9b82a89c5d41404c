package gates

import (
	"math/bits"
	"slices"
	"strings"
)

// toGrader reports whether a sentence speaks to whoever grades and holds no real
// datum. Such a sentence neither helps nor harms.
func (r *reading) toGrader(sentence int) bool {
	s := &r.sentences[sentence]
	real := func(c cite) bool { return !c.asked && c.kind <= citeCode }
	return s.classes&graderWord != 0 && !slices.ContainsFunc(r.citesOf(sentence), real)
}

// remarkClasses are the roles that together make a remark on results.
const remarkClasses = resultWord | evalWord | seeWord | countWord | deicticWord

// remarkIn reports whether a sentence says something of what came back. Two
// different roles are needed, one of them a judgement, a perception or a count
// of results; a sentence of intention or about thinking itself needs one more, a perception and a word that points at results. An invented id or price
// that something is said of is a remark too, if a false one.
func (r *reading) remarkIn(sentence int) bool {
	s := &r.sentences[sentence]
	if r.inventsIn(sentence) || r.pointsAtID(sentence) {
		return true
	}
	classes := s.classes
	if r.countsResults(s) {
		classes |= countWord
	}
	roles := bits.OnesCount32(uint32(classes & remarkClasses))
	if classes&verdictWord != 0 {
		roles += 2
	}
	if classes&(planWord|thoughtWord) != 0 {
		const pointing = resultWord | deicticWord
		return roles > 2 && (classes&verdictWord != 0 || classes&seeWord != 0 && classes&pointing != 0)
	}
	judged := classes&evalWord != 0 && (classes&(resultWord|seeWord|deicticWord) != 0 || s.tokens.end-s.tokens.start <= maxVerdict)
	// "The first is cheaper" judges what it points at; in a wish it is a wish.
	if classes&compareWord != 0 && classes&deicticWord != 0 && classes&requireWord == 0 {
		return true
	}
	return roles > 1 && (judged || classes&(seeWord|verdictWord) != 0 || classes&resultWord != 0 && classes&(countWord|deicticWord) != 0)
}

// maxVerdict is the length in tokens of a sentence in which a count and a
// judgement are a remark: "nothing convincing yet". In a longer one they may
// belong to different things.
const maxVerdict = 8

// pointsAtID reports whether a sentence takes up an id that a result holds: that
// is no datum while it is only opened or recommended, but more than the query.
func (r *reading) pointsAtID(sentence int) bool {
	return slices.ContainsFunc(r.citesOf(sentence), func(c cite) bool { return (c.kind == citeID || c.kind == citeShop) && !c.asked })
}

func (r *reading) inventsIn(sentence int) bool {
	return slices.ContainsFunc(r.citesOf(sentence), func(c cite) bool { return c.kind == citeUnknown && !r.bare(&c) })
}

// countsResults reports whether a small figure stands before a word for results.
func (r *reading) countsResults(s *sentence) bool {
	for _, t := range r.tokens[s.tokens.start:s.tokens.end] {
		if t.number.count == 0 || !t.number.plain || t.number.digits > 2 {
			continue
		}
		for _, m := range r.marks[s.marks.start:s.marks.end] {
			if m.class&resultWord != 0 && m.start > t.end && m.start <= t.end+2 && strings.TrimSpace(r.text[t.end:m.start]) == "" {
				return true
			}
		}
	}
	return false
}

// maxNote is the length in tokens of a note that names values alone.
const maxNote = 12

// describes reports whether a sentence is a note of values ("Wood, floral."):
// short, and neither a plan nor the customer's wish.
func (r *reading) describes(sentence int) bool {
	s := &r.sentences[sentence]
	return s.classes&(planWord|requireWord) == 0 && s.tokens.end-s.tokens.start <= maxNote
}
