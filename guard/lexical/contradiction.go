package lexical

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Thresholds of the feature template, the share of adjacent word pairs that a text and a request
// have in common. From copyTemplate on, the text is taken for a copy of the request with changes,
// so that a replaced word is suspect. From verbatimTemplate on, even the number of occurrences of
// each word counts. A text by another author shares fewer pairs and replaces most words.
const (
	copyTemplate     = 0.45
	verbatimTemplate = 0.75
)

// contradiction describes the first constraint, such as a number, a delivery term or a colour, in
// which a text differs from a protected request. It returns "" if no constraint differs.
func contradiction(b, p *profile, f features) string {
	checks := [...]func(b, p *profile, template float64) string{
		numberDifference, slotDifference, quantityDifference, serviceDifference, classDifference,
		negationDifference, itemDifference, itemValueDifference, wordDifference, nounDifference, replacedInCopy,
	}
	for _, check := range checks {
		if difference := check(b, p, f[template]); difference != "" {
			return difference
		}
	}
	return ""
}

// numberDifference describes a number of the request b that the text p replaced by another number,
// or turned from a lower into an upper bound or the reverse. If the text is a copy of the request
// (template, the share of common word pairs, is at least copyTemplate), a number that was only
// removed or added counts too. It returns "" if there is no difference.
func numberDifference(b, p *profile, template float64) string {
	missing := missingNumbers(b, p)
	extra := missingNumbers(p, b)
	switch {
	case len(missing) > 0 && len(extra) > 0:
		return fmt.Sprintf("number %s became %s", b.lexicon.amount(missing[0]), b.lexicon.amount(extra[0]))
	case template >= copyTemplate && len(missing) > 0:
		return fmt.Sprintf("number %s is missing", b.lexicon.amount(missing[0]))
	case template >= copyTemplate && len(extra) > 0:
		return fmt.Sprintf("number %s was added", b.lexicon.amount(extra[0]))
	}
	isLost := len(missing) > 0 || b.hasCountBeyond(p)
	isAdded := len(extra) > 0 || p.hasCountBeyond(b)
	if isLost && isAdded {
		return "another number"
	}
	for _, n := range b.numbers {
		for _, o := range p.numbers {
			if n.isSameAmount(o) && n.isOppositeBound(o) {
				return fmt.Sprintf("number %s is another kind of bound", b.lexicon.amount(n))
			}
		}
	}
	return ""
}

// hasCountBeyond reports whether the text has a number from 2 in words that b has neither in words nor in digits.
func (p *profile) hasCountBeyond(b *profile) bool {
	for v := 2.0; v < 32; v++ {
		if p.hasCount(v) && !b.hasAmount(v) {
			return true
		}
	}
	return false
}

// missingNumbers returns the numbers of a that b contains neither as a number nor, from 0 to 31, as
// a word such as "two". The "one" in "the red one" is no bound.
func missingNumbers(a, b *profile) []number {
	return slicesx.FilterMap(a.numbers, func(n number) (number, bool) {
		return n, !hasNumber(b.numbers, n) && (n.isBound() || !b.hasCount(n.value))
	})
}

// isOppositeBound reports whether one of two numbers is used as a lower bound only ("at least 5")
// and the other as an upper bound only ("at most 5").
func (n number) isOppositeBound(o number) bool {
	const up, down = 1 << above, 1 << below
	a := n.directions & (up | down)
	b := o.directions & (up | down)
	return a == up && b == down || a == down && b == up
}

func (n number) isBound() bool {
	return n.directions&(1<<above|1<<below) != 0
}

// serviceDifference describes a delivery term, such as free shipping, that only one of the request b and
// the text p has. A term that is no name and that the text omits counts only if the text says nothing of
// delivery or is a copy of the request (template of at least copyTemplate), since another author may express it in words that
// the lexicon lacks. It returns "" if there is no difference.
func serviceDifference(b, p *profile, template float64) string {
	isTold := slices.ContainsFunc(p.words, func(w *word) bool { return w != nil && loadLexicon().roles["delivery"][w.text] })
	for i, name := range serviceNames {
		bit := uint8(1) << i
		inBase := b.services&bit != 0
		inText := p.services&bit != 0
		isName := bit >= services["svcmall"]
		mayBeTold := isTold && !isName || p.knownShare() < minReadShare
		isLost := template >= copyTemplate || !mayBeTold
		switch {
		case inText && !inBase:
			return name + " was added"
		case inBase && !inText && isLost:
			return name + " is not asked for"
		}
	}
	return ""
}

// classDifference describes a class, such as colour, in which the text replaced a value of the
// request by another value. Unless the text is a verbatim copy (template of at least
// verbatimTemplate), it compares only hard classes, whose values exclude each other in any wording.
// A class that is named like a role of words is compared only if the request has such a word: "all
// items" says where a discount is valid only if there is one. It returns "" if there is no
// difference.
func classDifference(b, p *profile, template float64) string {
	l := loadLexicon()
	for i, name := range l.names {
		if template < verbatimTemplate && !l.hard[i] {
			continue
		}
		if words := l.roles[name]; words != nil && !slices.ContainsFunc(b.tokens, func(t token) bool { return words[t.text] }) {
			continue
		}
		class := uint8(i)
		if lacks(b.values, p.values, class) && lacks(p.values, b.values, class) {
			return "another " + name
		}
	}
	return ""
}

// maxChangedWords is the maximum number of words that a copy of a request may omit, or add, and
// still count as asking for the same.
const maxChangedWords = 1

// wordDifference describes the content words of the request b that the text p replaced, or returns
// "". In a copy of the request (template of at least copyTemplate) it reports missing words
// together with added ones, or more than maxChangedWords that are only missing or only added: a
// single one ("grey condition") proves little. A text in other wording nearly always has missing
// and added words (see replacedWish).
func wordDifference(b, p *profile, template float64) string {
	if template < copyTemplate {
		return ""
	}
	missing := missingWords(b, p, template)
	extra := missingWords(p, b, template)
	switch {
	case len(missing) > 0 && len(extra) > 0:
		return fmt.Sprintf("%q became %q", joinWords(missing), joinWords(extra))
	case len(missing) > maxChangedWords:
		return fmt.Sprintf("%q is missing", joinWords(missing))
	case len(extra) > maxChangedWords:
		return fmt.Sprintf("%q was added", joinWords(extra))
	}
	return ""
}

// isDistinctive reports whether a word of the request has at least the weight of an unknown word,
// so that few other protected requests have it: among requests for lamps, "source" is not
// distinctive if many of them contain it.
func isDistinctive(w *word) bool { return w.weight >= weightUnknown }

// wishesBeyond returns the content words of the text p for which the request b has no word (see
// standsFor), and stop words that name a thing (see isGood). It leaves out words that the text negates and names of data fields, as in name=value.
func (p *profile) wishesBeyond(b *profile) (out []*word) {
	for i, w := range p.words {
		isWish := w != nil && (w.content || p.isGood(i) && !b.hasWord(w)) && !p.tokens[i].isField
		if isWish && !b.standsFor(p, w, nil) && !p.isNegated(i) {
			out = append(out, w)
		}
	}
	return out
}

// maxReplacing is the maximum number of different words by which a text replaces a word of a request, as
// "honey butter" replaces "chili". A text with more new words, and more than one in storyShare, tells a
// story, in which most of them name nothing that is asked for.
const (
	maxReplacing = 2
	storyShare   = 6
)

// replacedWish describes what the request b asks for and the text p replaced, in any wording: p lacks a word of b,
// and has new ones in a sentence with other words of b. It also does if b has the word more often, as for
// two goods, and the new word stands beside the same word. Talk, and words such as "effect" that only
// name a property, do not count. It returns "" if there is none, or if the text tells a story or cannot be read.
func replacedWish(b, p *profile) string {
	l := loadLexicon()
	added := distinct(slicesx.FilterMap(p.wishesBeyond(b), func(w *word) (*word, bool) {
		return w, !l.talk[w.stem] && !l.roles["measure"][w.text] && !l.roles["placeholder"][w.text]
	}))
	isStory := len(added) > max(maxReplacing, len(p.distinct)/storyShare)
	added = slices.DeleteFunc(added, func(w *word) bool { return p.isTold(b, w) || b.hasMeaning(w, nil) })
	if len(added) == 0 || isStory || p.knownShare() < minReadShare {
		return ""
	}
	isReplaced := func(w *word) bool {
		near := b.around(w)
		isFewer := p.countOf(w) < b.countOf(w) && slices.ContainsFunc(added, func(o *word) bool { return haveSimilar(near, p.around(o)) })
		return isFewer || !p.standsFor(b, w, nil)
	}
	lost := distinct(slicesx.FilterMap(b.content, func(w *word) (*word, bool) {
		isName := l.roles["general"][w.text] || l.roles["container"][w.text] || l.attributes[w.stem]
		return w, !isName && isReplaced(w)
	}))
	if len(lost) == 0 {
		return ""
	}
	return fmt.Sprintf("%q became %q", joinWords(lost), joinWords(added))
}

// countOf returns how many content words of the text are similar to w.
func (p *profile) countOf(w *word) int {
	return slicesx.CountFunc(p.content, func(o **word) bool { return areSimilar(*o, w) })
}

// around returns the content words directly before and after w at each of its places.
func (p *profile) around(w *word) (out []*word) {
	for i, o := range p.content {
		if o == w {
			out = append(out, p.content[max(0, i-1):min(len(p.content), i+2)]...)
		}
	}
	return slices.DeleteFunc(out, func(o *word) bool { return o == w })
}

// isTold reports whether the text p has w only in sentences without a content word of the request b.
func (p *profile) isTold(b *profile, w *word) bool {
	isShared := func(o *word) bool { return o != nil && o.content && o != w && b.standsFor(p, o, nil) }
	start := 0
	for i := range p.tokens {
		isEnd := i+1 == len(p.tokens) || strings.IndexByte(".!?\n", p.tokens[i+1].before) >= 0
		sentence := p.words[start : i+1]
		if isEnd && slices.Contains(sentence, w) && slices.ContainsFunc(sentence, isShared) {
			return false
		}
		if isEnd {
			start = i + 1
		}
	}
	return true
}

// distinct returns the first of the words with each stem.
func distinct(words []*word) (out []*word) {
	for _, w := range words {
		if !hasHash(out, w.hash) {
			out = append(out, w)
		}
	}
	return out
}

// isGood reports whether the stop word at i names a thing: directly after a content word, as in "valve
// cap".
func (p *profile) isGood(i int) bool {
	return i > 0 && loadLexicon().roles["good"][p.tokens[i].text] && p.tokens[i].isNextWord() && p.words[i-1] != nil && p.words[i-1].content
}

// hasWord reports whether the text has w, in any form.
func (p *profile) hasWord(w *word) bool {
	return slices.ContainsFunc(p.words, func(o *word) bool { return o != nil && o.hash == w.hash })
}

// nounDifference describes an item of the request b that the text p replaced by another one:
// "stainless steel kitchen tools" became "stainless steel soap dishes". It compares the noun
// phrases of the two. A phrase of the text with a new noun replaces a phrase of the request if the
// words before the noun are the same in both. It also does if the phrase contains every word that
// the request lacks and shares a word with the other phrase, whose noun the text does not have. It
// returns "" if there is no such pair.
func nounDifference(b, p *profile, _ float64) string {
	newWords := p.wishesBeyond(b)
	if len(newWords) == 0 {
		return ""
	}
	textPhrases := p.phrases()
	for _, phrase := range b.phrases() {
		last := len(phrase) - 1
		if last == 0 {
			continue
		}
		isNounElsewhere := p.hasMeaning(phrase[last], nil)
		for _, other := range textPhrases {
			noun := other[len(other)-1]
			if !slices.Contains(newWords, noun) {
				continue
			}
			isOnlyNew := !isNounElsewhere && isSubset(newWords, other) && haveSimilar(phrase[:last], other)
			if isOnlyNew || last >= minModifiers && haveSameModifiers(phrase, other) {
				return fmt.Sprintf("%q became %q", phrase[last].text, noun.text)
			}
		}
	}
	return ""
}

// minModifiers is the minimum number of words before a noun that identify the item.
const minModifiers = 2

// haveSameModifiers reports whether two phrases have equally many words, and each word of a, except
// for the last one, is similar to the word at the same place in b.
func haveSameModifiers(a, b []*word) bool {
	last := len(a) - 1
	return len(b) == len(a) && slices.EqualFunc(a[:last], b[:last], areSimilar)
}

// isSubset reports whether every word of a is in b, and a has no more words than b.
func isSubset(a, b []*word) bool {
	return len(a) <= len(b) && !slices.ContainsFunc(a, func(w *word) bool {
		return !slices.Contains(b, w)
	})
}

// haveSimilar reports whether some word of a may have the same meaning as some word of b (see
// areSimilar).
func haveSimilar(a, b []*word) bool {
	for _, w := range a {
		if slices.ContainsFunc(b, func(o *word) bool { return areSimilar(o, w) }) {
			return true
		}
	}
	return false
}

// phrases returns the sequences of adjacent content words in the text, each as long as possible.
// Between the words of a sequence is only white space or a hyphen.
func (p *profile) phrases() [][]*word {
	var out [][]*word
	inPhrase := false
	for i, w := range p.words {
		if w == nil || !w.content {
			inPhrase = false
			continue
		}
		if inPhrase && p.tokens[i].isNextWord() {
			out[len(out)-1] = append(out[len(out)-1], w)
		} else {
			out = append(out, []*word{w})
		}
		inPhrase = true
	}
	return out
}

func joinWords(words []*word) string {
	texts := slicesx.Map(words, func(w *word) string {
		return w.text
	})
	return strings.Join(texts, " ")
}

// missingWords returns the content words of a that are similar to no content word of b. In a
// verbatim copy (template of at least verbatimTemplate), each word of b can match only one word of
// a.
func missingWords(a, b *profile, template float64) []*word {
	var used []bool
	if template >= verbatimTemplate {
		used = make([]bool, len(b.content))
	}
	return slicesx.FilterMap(a.content, func(w *word) (*word, bool) {
		return w, !b.hasMeaning(w, used)
	})
}

// hasMeaning reports whether a content word of the text is similar to w. If used is not nil, it has
// one element for each content word: words whose element is true are skipped, and the element of
// the first match is set to true.
func (p *profile) hasMeaning(w *word, used []bool) bool {
	for i, o := range p.content {
		if used != nil && used[i] || !areSimilar(w, o) {
			continue
		}
		if used != nil {
			used[i] = true
		}
		return true
	}
	return false
}

// areSimilar reports whether two words may have the same meaning: they have the same stem or a long
// common prefix, are synonyms or names of one value such as a colour, or one is a misspelling of
// the other.
func areSimilar(a, b *word) bool {
	if a.stem == b.stem || isTypo(a, b) {
		return true
	}
	return shareElement(a.synonyms, b.synonyms) || shareElement(a.classes, b.classes) ||
		sharePrefix(a.stem, b.stem) || isInflected(a.text, b.text) || isInflected(b.text, a.text)
}

// isInflected reports whether w begins with base, of at least minPrefix bytes, and so is likely
// base with an ending: "wired" and "wire". The stems of the two may differ, since the function stem
// removes endings by simple rules.
func isInflected(w, base string) bool {
	return len(base) >= minPrefix && strings.HasPrefix(w, base)
}

func shareElement[T comparable](a, b []T) bool {
	for _, v := range a {
		if slices.Contains(b, v) {
			return true
		}
	}
	return false
}

// minTypoWord is the minimum length in bytes of two words of which one can be a misspelling of the
// other, when two texts are compared. minConsonants is that of a misspelling without a vowel, which
// is hardly another word: "pnk".
const (
	minTypoWord   = 4
	minConsonants = 3
)

// isTypo reports whether one word is likely a misspelling of the other: they differ by one edit or
// two swapped letters, only one of them is a known word, and both are long enough.
func isTypo(a, b *word) bool {
	if a.known == b.known || !a.isLongEnough() || !b.isLongEnough() {
		return false
	}
	return isOneEdit(a.text, b.text)
}

func (w *word) isLongEnough() bool {
	if !w.known && !strings.ContainsAny(w.text, "aeiouy") {
		return len(w.text) >= minConsonants
	}
	return len(w.text) >= minTypoWord
}
