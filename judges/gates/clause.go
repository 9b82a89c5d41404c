package gates

import (
	"slices"
	"strings"
	"unicode/utf8"
)

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
	cites := r.citesOf(c.sentence)
	for i := range cites {
		if cites[i].kind != citeID {
			continue
		}
		named++
		same := func(o cite) bool {
			return o.kind == citeID && r.folded[o.start:o.end] == r.folded[cites[i].start:cites[i].end]
		}
		if !slices.ContainsFunc(cites[:i], same) {
			different++
		}
	}
	return named, different
}

func (p *passage) unspacedIn(at span) bool {
	for _, c := range p.text[at.start:at.end] {
		if unspaced(c) {
			return true
		}
	}
	return false
}

// clause is the stretch around a cite between commas, colons, brackets and
// arrows. A colon right after it opens what is said of it.
func (r *reading) clause(c *cite) span {
	s := r.sentences[c.sentence]
	start, end := c.start, c.end
	for start > s.start && !clauseEdge(r.text, int(start)-1) {
		start--
	}
	// An id between two commas says more of what stands before it: "the same shop, 740112, nice".
	if c.kind == citeShop && strings.TrimSpace(r.text[start:c.start]) == "" {
		for start = max(start-1, s.start); start > s.start && !clauseEdge(r.text, int(start)-1); {
			start--
		}
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
