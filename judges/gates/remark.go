package gates

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// addressesGrader reports whether a sentence addresses a grader and cites no
// datum of a result. Such a sentence neither passes nor fails a gate.
func (r *reading) addressesGrader(sentence int) bool {
	isDatum := func(c cite) bool { return !c.inRequest && c.kind <= citeCode }
	return r.sentences[sentence].classes&graderWord != 0 && !slices.ContainsFunc(r.sentenceCites(sentence), isDatum)
}

// remarkClasses are the roles of which a remark on results has two.
const remarkClasses = resultWord | evalWord | seeWord | countWord | deicticWord

// isRemark reports whether a sentence comments on what the tools returned. That
// takes two of the remark roles, one of them a judgement, a perception or a count
// of results. A sentence of intention, or about thinking itself, needs three
// roles: a perception and a word that points at results among them. A returned id
// alone is a remark, and so is a comment on an invented id or price.
func (r *reading) isRemark(sentence int) bool {
	if slices.ContainsFunc(r.sentenceCites(sentence), r.remarksOn) {
		return true
	}
	s := &r.sentences[sentence]
	classes := s.classes
	if r.countsResults(sentence) {
		classes |= countWord
	}
	roles := bits.OnesCount32(uint32(classes & remarkClasses))
	if classes&verdictWord != 0 {
		roles += 2
	}

	if classes&(planWord|thoughtWord) != 0 {
		seesResults := classes&seeWord != 0 && classes&(resultWord|deicticWord) != 0
		return roles > 2 && (classes&verdictWord != 0 || seesResults)
	}
	// "The first is cheaper" judges what it points at, unless it is a wish.
	if classes&compareWord != 0 && classes&deicticWord != 0 && classes&requireWord == 0 {
		return true
	}
	if roles < 2 {
		return false
	}
	if classes&(seeWord|verdictWord) != 0 || classes&resultWord != 0 && classes&(countWord|deicticWord) != 0 {
		return true
	}
	return classes&evalWord != 0 && (classes&(resultWord|deicticWord) != 0 || s.length() <= maxVerdict)
}

// remarksOn reports whether a cite makes its sentence a remark: a returned id
// that is not in the request, even if it is only opened, or an invented id or
// price with a comment on it.
func (r *reading) remarksOn(c cite) bool {
	switch c.kind {
	case citeID, citeShop:
		return !c.inRequest
	case citeUnknown:
		return !r.isBareID(&c)
	case citePrice, citeBrand, citeCode, citeValue:
	}
	return false
}

// maxVerdict is the maximum length in tokens of a sentence in which a count and a
// judgement are a remark: "nothing convincing yet". In a longer one they may
// belong to different things.
const maxVerdict = 8

// countsResults reports whether a figure of one or two digits precedes a word for
// results.
func (r *reading) countsResults(sentence int) bool {
	for _, t := range r.sentenceTokens(sentence) {
		if t.number.count == 0 || !t.number.plain || t.number.digits > 2 {
			continue
		}
		for _, m := range r.sentenceMarks(sentence) {
			if m.class&resultWord == 0 || m.start <= t.end || m.start > t.end+2 {
				continue
			}
			if strings.TrimSpace(r.text[t.end:m.start]) == "" {
				return true
			}
		}
	}
	return false
}

// maxNote is the maximum length in tokens of a note that names only values.
const maxNote = 12

// isNote reports whether a sentence is a note of values ("Wood, floral."): short,
// and neither a plan nor the customer's wish.
func (r *reading) isNote(sentence int) bool {
	s := &r.sentences[sentence]
	return s.classes&(planWord|requireWord) == 0 && s.length() <= maxNote
}

// isBareID reports whether an id is no more than the object of an action: its
// clause has no comment on it.
func (r *reading) isBareID(c *cite) bool {
	const comment = evalWord | compareWord | rejectWord | seeWord | contrastWord | preferWord | verdictWord
	const action = actWord | chooseWord | planWord

	clause := r.clause(c)
	classes := r.classesIn(c.sentence, clause)
	if classes&comment != 0 || r.comparesIDs(c) {
		return false
	}
	if classes&action != 0 {
		return true
	}
	others := 0
	tokens := r.sentenceTokens(c.sentence)
	for i := range tokens {
		t := &tokens[i]
		if t.start < clause.start || t.end > clause.end {
			continue
		}
		isWord := t.number.end == 0
		if isWord || t.number.digits < minID && t.start != c.start {
			others++
		}
	}
	return others < 3 && !r.hasUnspaced(clause)
}

// comparesIDs reports whether the sentence of a cite lists ids without an
// action, or chooses one of several.
func (r *reading) comparesIDs(c *cite) bool {
	const action = actWord | chooseWord | planWord
	const choice = deicticWord | chooseWord

	classes := r.sentences[c.sentence].classes
	mentions, distinct := r.countIDs(c.sentence)
	if mentions > 1 && classes&action == 0 {
		return true
	}
	return distinct > 1 && (mentions > distinct || classes&choice == choice)
}

// countIDs returns the number of ids in a sentence, with and without repetitions.
func (r *reading) countIDs(sentence int) (mentions, distinct int) {
	ids := map[string]bool{}
	for _, c := range r.sentenceCites(sentence) {
		if c.kind == citeID {
			mentions++
			ids[r.folded[c.start:c.end]] = true
		}
	}
	return mentions, len(ids)
}

// hasUnspaced reports whether part of the text is in a script without blanks.
func (p *passage) hasUnspaced(part span) bool {
	return strings.ContainsFunc(p.text[part.start:part.end], unspaced)
}

// clause returns the stretch around a cite between commas, colons, brackets and
// arrows. A colon right after the cite is part of it: what follows is about the
// cite.
func (r *reading) clause(c *cite) span {
	s := r.sentences[c.sentence]
	start := c.start
	for start > s.start && !isClauseEdge(r.text, int(start)-1) {
		start--
	}
	end := c.end
	for end < s.end {
		colonAfterCite := end == c.end && r.text[end] == ':'
		if isClauseEdge(r.text, int(end)) && !colonAfterCite {
			break
		}
		end++
	}
	return span{start, end}
}

func isClauseEdge(text string, i int) bool {
	c, _ := utf8.DecodeRuneInString(text[i:])
	return strings.ContainsRune(",;:()|>，：、→", c)
}
