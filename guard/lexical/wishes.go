package lexical

import (
	"fmt"
	"slices"
	"strings"
)

// isDistinctive reports whether a word of the request has at least the weight of an unknown word,
// so that few other protected requests have it: among requests for lamps, "source" is not
// distinctive if many of them contain it.
func isDistinctive(w *word) bool { return w.weight >= weightUnknown }

// wishesBeyond returns the content words of the text p for which the request b has no word (see
// standsFor), and stop words that name a thing (see isGood). It leaves out words that the text
// negates and names of data fields, as in name=value.
func (p *profile) wishesBeyond(b *profile) (out []*word) {
	for i, w := range p.words {
		isWish := w != nil && (w.content || p.isGood(i) && !b.hasWord(w)) && !p.tokens[i].isField
		if isWish && !b.standsFor(p, w, nil) && !p.isNegated(i) {
			out = append(out, w)
		}
	}
	return out
}

// unread describes the first thing that the text p says and for which the request b has no
// counterpart: a word, a number or a denial. It also describes a number of b that p leaves out. It
// returns "" if there is none: only then everything that p says was read and agrees. Of the words of
// a text in a language that is not read, it compares English values such as colours only.
func unread(b, p *profile, template float64) string {
	if w := p.firstUnread(b); w != nil {
		return fmt.Sprintf("%q was added", w.text)
	}
	counts := p.countNumbers()
	inBase := b.countNumbers()
	for i := range p.tokens {
		v := p.countAt(i)
		isKnown := v < 2 || counts[v] <= inBase[v] || v == 2 && b.namesPair()
		if !isKnown && !p.isOfPeopleAt(i) && !p.isCountOfAll(b, i) {
			return fmt.Sprintf("number %v was added", v)
		}
	}
	for _, n := range missingNumbers(p, b) {
		isOne := n.value == 1 && n.unit == 0 && !n.isBound()
		if !isOne && !p.isOfPeople(n) {
			return fmt.Sprintf("number %s was added", b.lexicon.amount(n))
		}
	}
	isLost := func(w *word) bool { return isProper(w) && !loadLexicon().isVague(w.text) }
	if lost := missingWords(b, p, template); template >= copyTemplate && slices.ContainsFunc(lost, isLost) {
		return fmt.Sprintf("%q is missing", joinWords(lost))
	}
	if missing := missingNumbers(b, p); len(missing) > 0 {
		return fmt.Sprintf("number %s is missing", b.lexicon.amount(missing[0]))
	}
	return addedDenial(b, p)
}

// firstUnread returns the first content word of the text p for which the request b has no word, also one
// that names a thing as a stop word (see isGood), and nil if there is none. It leaves out talk, names of
// data fields, initials, what p only tells, words of saving in the sentence of a rebate, and a denied
// value of a class, such as a colour, of which b asks for another one: "not black but white".
func (p *profile) firstUnread(b *profile) *word {
	isRead := p.knownShare() >= minReadShare
	isValue := func(w *word) bool { return len(b.lexicon.classesOf(w.text)) > 0 }
	start := 0
	for i := range p.tokens {
		if i+1 < len(p.tokens) && strings.IndexByte(".!?\n", p.tokens[i+1].before) < 0 {
			continue
		}
		if !p.isTold(b, start, i+1) {
			for j := start; j <= i; j++ {
				if p.isUnread(b, j) && (isRead || isValue(p.words[j])) {
					return p.words[j]
				}
			}
		}
		start = i + 1
	}
	return nil
}

// isTold reports whether the sentence from start to before end wishes nothing: it has a word of
// telling such as "it was", or begins as in "my kid keeps", and neither a content word of the request
// b nor a word of wishing such as "must". A fragment such as "In blue." wishes.
func (p *profile) isTold(b *profile, start, end int) bool {
	roles := loadLexicon().roles
	tells := roles["owner"][p.textAt(start)] || slices.ContainsFunc(p.tokens[start:end], func(t token) bool {
		return roles["telling"][t.text]
	})
	return tells && !slices.ContainsFunc(p.words[start:end], func(o *word) bool {
		return o != nil && (roles["wishing"][o.text] || isProper(o) && b.standsFor(p, o, nil))
	})
}

// isUnread reports whether the word at i may say what is asked for and the request b has no word for it.
func (p *profile) isUnread(b *profile, i int) bool {
	w := p.words[i]
	if w == nil || p.tokens[i].isField || !p.maySayWish(i, b) || b.answers(p, w) {
		return false
	}
	isInitials := !w.known && b.hasInitials(w)
	isSlip := func(o *word) bool { return o != nil && !w.known && o.maySlipTo(w.text) }
	isOfClass := func(v classValue) bool { return lacks(b.values, w.classes, v.class) }
	isContrast := p.isNegated(i) && slices.ContainsFunc(w.classes, isOfClass)
	isSaving := loadLexicon().roles["saving"][w.text] && p.isOfRebate(i)
	return !isInitials && !isContrast && !isSaving && !slices.ContainsFunc(b.words, isSlip)
}

// maySlipTo reports whether slip, which no list has, may be the word with a typing error. In a function
// word it may also be a letter of three that are left, between the first and the last one: "wth".
func (w *word) maySlipTo(slip string) bool {
	isInside := !w.content && len(slip) >= minStem && slip[0] == w.text[0] && slip[len(slip)-1] == w.text[len(w.text)-1]
	return isMisspelling(slip, w.text) || isInside && isOneEdit(slip, w.text)
}

// maySayWish reports whether the word at i may say what is asked for: a content word but for talk, or a stop
// word that the request b lacks and that names a thing (see isGood), a model as in "14 plus", or a property as in "right mirror".
func (p *profile) maySayWish(i int, b *profile) bool {
	l := loadLexicon()
	w := p.words[i]
	isNew := func(v classValue) bool {
		return l.roles[l.names[v.class]] == nil && p.isProperty(i, v) && !slices.Contains(b.values, v)
	}
	isOfThing := !l.talk[p.textAt(i+1)] && !l.roles["owner"][p.textAt(i-1)] // not "right away", "my wife"
	isValue := len(w.text) > 1 && isOfThing && slices.ContainsFunc(w.classes, isNew)
	isModel := l.roles["variant"][w.text] && i > 0 && p.tokens[i-1].isNumber() && p.tokens[i].isNextWord()
	isThing := (isModel || p.isGood(i) || p.isAfterContent(i, "container")) && !b.hasWord(w)
	return isThing || (w.content || isValue) && !l.isTalk(w.text)
}

// answers reports whether the text p has a content word for the word w of another text. "Curl" is none
// for "curler", which is another thing.
func (p *profile) answers(other *profile, w *word) bool {
	isAnswer := func(o *word) bool {
		return p.mayMean(o, w) && (isAgent(o.text) || !isAgent(w.text) || o.stem != w.stem)
	}
	return p.standsFor(other, w, nil) && (!isAgent(w.text) || p.hasJoined(w)) || slices.ContainsFunc(p.content, isAnswer)
}

// isTalk reports whether a word is no wish by itself: talk about a purchase, a delivery or a payment, the
// name of a property, a general noun, a container, a measure or a placeholder such as "something".
func (l *lexicon) isTalk(w string) bool {
	isOf := func(role string) bool { return l.roles[role][w] }
	return l.talk[w] || l.isVague(w) || slices.ContainsFunc([]string{"measure", "placeholder", "sending", "paying"}, isOf)
}

// isCountOfAll reports whether the number at i counts all things that are asked for, and none that the
// request b names: "three things", "three gifts".
func (p *profile) isCountOfAll(b *profile, i int) bool {
	noun := p.nounAfter(i)
	return loadLexicon().roles["placeholder"][p.textAt(i+1)] || p.countAt(i) == float64(b.countAsked()) && (noun == nil || !b.answers(p, noun))
}

// isVague reports whether a word names no wish by itself: it is the name of a property, a general noun or a
// container.
func (l *lexicon) isVague(w string) bool {
	return l.attributes[w] || l.roles["general"][w] || l.roles["container"][w]
}

// minInitials is the minimum number of words that people write as initials: "bbw" for "bath body works".
const minInitials = 3

// hasInitials reports whether w consists of the initials of words in a row of the text.
func (p *profile) hasInitials(w *word) bool {
	if len(w.text) < minInitials {
		return false
	}
	var initials []byte
	for i := range p.tokens {
		if t := p.tokens[i].text; t != "" && t != "and" && t != "of" {
			initials = append(initials, t[0])
		}
	}
	return strings.Contains(string(initials), w.text)
}

// isGood reports whether the stop word at i names a thing: directly after a content word, as in "valve
// cap".
func (p *profile) isGood(i int) bool { return p.isAfterContent(i, "good") }

// isAfterContent reports whether the word at i has the role and is directly after a content word.
func (p *profile) isAfterContent(i int, role string) bool {
	return i > 0 && loadLexicon().roles[role][p.tokens[i].text] && p.tokens[i].isNextWord() && p.words[i-1] != nil && p.words[i-1].content
}

// hasWord reports whether the text has w, in any form.
func (p *profile) hasWord(w *word) bool {
	return slices.ContainsFunc(p.words, func(o *word) bool { return o != nil && o.hash == w.hash })
}

// isProper reports whether a content word says more than the name of a property.
func isProper(w *word) bool {
	return w.content && !loadLexicon().attributes[w.text] && !loadLexicon().talk[w.text]
}

// standsFor reports whether the text p has a content word for the word w of another text: one that is
// similar to w, but not another word of that text, as "bolt" is no word for the "screw" of a request
// for both. The words of allowed may stand for w nonetheless.
func (p *profile) standsFor(other *profile, w *word, allowed []*word) bool {
	if p.hasJoined(w) {
		return true
	}
	return slices.ContainsFunc(p.content, func(o *word) bool {
		if other.hasPart(w, o) {
			return true
		}
		return p.mayMean(o, w) && (o.stem == w.stem || !hasHash(other.distinct, o.hash) || hasHash(allowed, o.hash))
	})
}

// hasJoined reports whether two words in a row of the text make up w: "lunch box" for "lunchbox".
func (p *profile) hasJoined(w *word) bool {
	for i := 1; i < len(p.tokens); i++ {
		if p.isJoined(i, w) {
			return true
		}
	}
	return false
}

// hasPart reports whether the text has w as a part of two words in a row that make up whole.
func (p *profile) hasPart(w, whole *word) bool {
	if len(whole.text) <= len(w.text) {
		return false
	}
	for i := 1; i < len(p.tokens); i++ {
		if (p.words[i] == w || p.words[i-1] == w) && p.isJoined(i, whole) {
			return true
		}
	}
	return false
}

// isJoined reports whether the word at i and the one before it make up w.
func (p *profile) isJoined(i int, w *word) bool {
	first := p.tokens[i-1].text
	second, isFirst := strings.CutPrefix(w.text, first)
	return isFirst && first != "" && second != "" && second == p.tokens[i].text
}

// countPlaceholders returns the number of words such as "something" that the text uses in place of the
// noun of an item. A word that the request b has too is used as there, and one in a sentence that says
// nothing else, as in "two things:", is used for all items.
func (p *profile) countPlaceholders(b *profile) int {
	roles := loadLexicon().roles
	n := 0
	isDescribed := false
	inSentence := 0
	for i, w := range p.words {
		if p.tokens[i].followsBound() {
			isDescribed = false
			inSentence = 0
		}
		isKnown := i > 0 && roles["known"][p.tokens[i-1].text]
		switch {
		case w == nil:
		case roles["placeholder"][w.text] && !b.hasWord(w) && !isKnown:
			inSentence++
		case w.content:
			isDescribed = true
		}
		if isDescribed {
			n += inSentence
			inSentence = 0
		}
	}
	return n
}

// isSameWord reports whether two words are forms of one word, are synonyms or name one value, such
// as a colour.
func isSameWord(a, b *word) bool {
	return a.stem == b.stem || shareElement(a.synonyms, b.synonyms) || shareElement(a.classes, b.classes) || areForms(a.text, b.text)
}
