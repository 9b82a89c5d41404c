package gates

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/scripts"
)

// addressesGrader reports whether a sentence has a word that addresses a grader and mentions no id,
// price, brand or model that the results have and the request has not. Such a sentence passes no
// gate.
func (r *reading) addressesGrader(sentence int) bool {
	isDatum := func(c cite) bool { return !c.inRequest && c.kind <= citeCode }
	return r.sentences[sentence].classes&graderWord != 0 && !slices.ContainsFunc(r.sentenceCites(sentence), isDatum)
}

// remarkClasses are the classes of words of which a remark on results needs two: a word for
// results, a judgement, a perception, a count, and a pointer into a list such as "the first".
const remarkClasses = resultWord | evalWord | seeWord | countWord | deicticWord

// isRemark reports whether a sentence comments on what the tools returned. A returned id, or a
// comment on an invented id or price, is enough, and so is a comparative with a word that points
// ("the first is cheaper"). Otherwise it needs words of two of the remarkClasses: a perception with
// any other, a word for results with a count or a pointer, or a judgement with one of these or in
// at most maxVerdict words. A complete verdict such as "none of them" counts as two. A sentence of
// intention, or about thinking itself, needs three.
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
	// An idiom in a sentence on the wish, such as "as the customer says", is about the request.
	if classes&requireWord != 0 && classes&(resultWord|deicticWord|evalWord|seeWord) == 0 {
		return false
	}
	if r.describesPlace(sentence) {
		return true
	}

	if classes&(planWord|thoughtWord) != 0 {
		const judges = evalWord | seeWord | resultWord | preferWord | rejectWord | compareWord | contrastWord
		seesResults := classes&seeWord != 0 && classes&(resultWord|deicticWord) != 0
		return roles > 2 && (classes&verdictWord != 0 && classes&judges != 0 || seesResults)
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

// describesPlace reports whether a sentence says something of a product that it names by its place in a list,
// as in "the latter should be strong enough", and announces no action.
func (r *reading) describesPlace(sentence int) bool {
	const describes = evalWord | compareWord | groundWord | moneyWord
	classes := r.sentences[sentence].classes
	return classes&(actWord|checkWord) == 0 && classes&describes != 0 &&
		slices.ContainsFunc(r.sentenceCites(sentence), func(c cite) bool { return c.kind == citeOrdinal })
}

// remarksOn reports whether a cite (a mention of returned data) alone makes its sentence a remark
// on results. It does if it is a returned id that is not in the request, even if the id is only
// opened, or an invented id or price with a comment on it.
func (r *reading) remarksOn(c cite) bool {
	switch c.kind {
	case citeID, citeShop:
		return !c.inRequest
	case citeUnknown:
		return !r.isBareID(&c)
	case citePrice, citeBrand, citeCode, citeValue, citeOrdinal:
	}
	return false
}

// maxVerdict is the maximum number of tokens of a sentence in which a judgement and a count are a
// remark: "nothing convincing yet". In a longer one they may belong to different things.
const maxVerdict = 8

// countsResults reports whether a sentence has a number of one or two digits right before a word
// for results, as in "12 hits".
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

// maxNote is the maximum number of tokens of a note, a sentence that only lists values.
const maxNote = 12

// isNote reports whether a sentence can be a note of values, such as "Wood, floral.": it has at
// most maxNote tokens and no word of a plan or of the customer's wish.
func (r *reading) isNote(sentence int) bool {
	s := &r.sentences[sentence]
	return s.classes&(planWord|requireWord) == 0 && s.length() <= maxNote
}

// isBareID reports whether the id c is only the object of an action, as in "open 612". This is so if
// the clause around the id has no word that judges or compares, does not compare the id with another
// one, and meets one of two conditions: it has a word for an action, or it has fewer than three
// other words and is written in a script that puts spaces between words.
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

// isVague reports whether the sentence of the complete product id c states no fact of the product,
// as in "612 looks closest" and "612 is what they asked for". It has no other datum, no word that a
// result has and neither the request nor a word list, and no refusal, comparison or property.
func (r *reading) isVague(c *cite) bool {
	const states = compareWord | contrastWord | moneyWord | groundWord | onlyWord | seenWord | deicticWord
	const vague = evalWord | requireWord | verdictWord | preferWord | seeWord
	if c.kind != citeID || c.product < 0 || int(c.end-c.start) < len(r.index.products[c.product].id) {
		return false
	}
	classes := r.sentences[c.sentence].classes
	if classes&(rejectWord|negationWord) != 0 || classes&vague == 0 {
		return false
	}
	isOther := func(o cite) bool { return o.kind != citeID || o.product != c.product }
	isFact := func(m mark) bool { return m.class&states != 0 && m.class&vague == 0 }
	isWord := func(t token) bool {
		return t.number.end == 0 && r.index.words[t.word].firstInText() < r.step &&
			!r.lexicon.plain[r.folded[t.start:t.end]] && !r.index.inRequest(r.folded[t.start:t.end])
	}
	return !slices.ContainsFunc(r.sentenceCites(c.sentence), isOther) &&
		!slices.ContainsFunc(r.sentenceMarks(c.sentence), isFact) && !slices.ContainsFunc(r.sentenceTokens(c.sentence), isWord)
}

// comparesIDs reports whether the sentence of the id c weighs ids against each other and does not
// only open them one after another. It mentions several and has no word for an action, or it has
// different ids and repeats one of them or chooses one by words such as "I take the first".
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

// countIDs counts the product ids in a sentence, first with repetitions and then without.
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

// hasUnspaced reports whether a byte range of the text has a character of a script without blanks.
func (p *passage) hasUnspaced(part span) bool {
	return strings.ContainsFunc(p.text[part.start:part.end], unspaced)
}

// clause returns the byte range of the sentence around a cite up to the next comma, colon, bracket
// or arrow on either side. It includes a colon right after the cite, since what follows is about
// the cite.
func (r *reading) clause(c *cite) span {
	s := r.sentences[c.sentence]
	start := c.start
	for start > s.start {
		c, width := utf8.DecodeLastRuneInString(r.text[s.start:start])
		if isClauseEdge(c) {
			break
		}
		start -= int32(width)
	}
	end := c.end
	for end < s.end {
		sign, width := utf8.DecodeRuneInString(r.text[end:s.end])
		colonAfterCite := end == c.end && sign == ':'
		if isClauseEdge(sign) && !colonAfterCite {
			break
		}
		end += int32(width)
	}
	return span{start, end}
}

// endsClause reports whether a character is a comma, colon, semicolon or opening bracket of any script.
func endsClause(c rune) bool {
	if c < utf8.RuneSelf {
		return c == '(' || c == ',' || c == ':' || c == ';'
	}
	return c == '（' || scripts.EndsClause(c) && !scripts.EndsSentence(c)
}

func isClauseEdge(c rune) bool { return endsClause(c) || strings.ContainsRune(")|>→", c) }
