package gates

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
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
	// Who takes up a returned id, even to open it, or says something of an invented one,
	// says more than the query.
	says := func(c cite) bool {
		return (c.kind == citeID || c.kind == citeShop) && !c.asked || c.kind == citeUnknown && !r.bare(&c)
	}
	if slices.ContainsFunc(r.citesOf(sentence), says) {
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

// bare reports whether an id is only the object of an action: its clause says
// nothing of it.
func (r *reading) bare(c *cite) bool {
	clause := r.clause(c)
	s := &r.sentences[c.sentence]
	classes := r.classesIn(s, clause)
	if classes&(evalWord|compareWord|rejectWord|seeWord|contrastWord|preferWord|verdictWord) != 0 {
		return false
	}
	named, different := r.idsBeside(c)
	pointed := s.classes&(deicticWord|chooseWord) == deicticWord|chooseWord
	if named > 1 && s.classes&(actWord|chooseWord|planWord) == 0 || different > 1 && (named > different || pointed) {
		return false
	}
	others := 0
	for k := s.tokens.start; k < s.tokens.end; k++ {
		if t := &r.tokens[k]; t.start >= clause.start && t.end <= clause.end && (t.number.end == 0 || t.number.digits < minID && t.start != c.start) {
			others++
		}
	}
	return classes&(actWord|chooseWord|planWord) != 0 || others < 3 && !r.unspacedIn(clause)
}

// idsBeside counts the ids of the cite's sentence, and how many of them differ:
// two held side by side, or one chosen of those named, are more than an action.
func (r *reading) idsBeside(c *cite) (named, different int) {
	ids := map[string]bool{}
	for _, o := range r.citesOf(c.sentence) {
		if o.kind == citeID {
			named++
			ids[r.folded[o.start:o.end]] = true
		}
	}
	return named, len(ids)
}

func (p *passage) unspacedIn(at span) bool {
	return strings.ContainsFunc(p.text[at.start:at.end], unspaced)
}

// clause is the stretch around a cite between commas, colons, brackets and
// arrows. A colon right after it opens what is said of it.
func (r *reading) clause(c *cite) span {
	s := r.sentences[c.sentence]
	start, end := c.start, c.end
	for start > s.start && !clauseEdge(r.text, int(start)-1) {
		start--
	}
	for end < s.end && (!clauseEdge(r.text, int(end)) || end == c.end && r.text[end] == ':') {
		end++
	}
	return span{start, end}
}

func clauseEdge(text string, i int) bool {
	c, _ := utf8.DecodeRuneInString(text[i:])
	return strings.ContainsRune(",;:()|>，：、→", c)
}
