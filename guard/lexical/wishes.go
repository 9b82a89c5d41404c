package lexical

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
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

// maxReplacing is the maximum number of different words by which a text replaces a word of a request, as
// "honey butter" replaces "chili". A text with more new words, and more than one in storyShare, tells a
// story, in which most of them name nothing that is asked for.
const (
	maxReplacing = 2
	storyShare   = 6
)

// replacedWish describes what the request b asks for and the text p replaced, in any wording: p
// lacks a word of b, and has new ones in a sentence with other words of b. It also does if b has
// the word more often, as for two goods, and the new word stands beside the same word. Talk, and
// words such as "effect" that only name a property, do not count. It returns "" if there is none,
// or if the text tells a story or cannot be read.
func replacedWish(b, p *profile) string {
	l := loadLexicon()
	added := distinct(slicesx.FilterMap(p.wishesBeyond(b), func(w *word) (*word, bool) {
		return w, !l.talk[w.text] && !l.isVague(w.text) && !l.roles["measure"][w.text] && !l.roles["placeholder"][w.text]
	}))
	told := slicesx.FilterMap(added, func(w *word) (*word, bool) { return w, !l.roles["either"][w.text] })
	isStory := p.countRuns(told) > max(maxReplacing, len(p.distinct)/storyShare)
	added = slices.DeleteFunc(added, func(w *word) bool { return p.isTold(b, w) || b.hasMeaning(w, nil) || b.hasInitials(w) })
	if len(added) == 0 || isStory || p.knownShare() < minReadShare {
		return ""
	}
	lost := distinct(slicesx.FilterMap(b.content, func(w *word) (*word, bool) {
		return w, !l.isVague(w.text) && (!p.standsFor(b, w, nil) || p.hasReplaced(b, w, added))
	}))
	if len(lost) == 0 {
		return ""
	}
	return fmt.Sprintf("%q became %q", joinWords(lost), joinWords(added))
}

// isVague reports whether a word names no wish by itself: it is the name of a property, a general noun or a
// container.
func (l *lexicon) isVague(w string) bool {
	return l.attributes[w] || l.roles["general"][w] || l.roles["container"][w]
}

// hasReplaced reports whether the text p has the word w less often than the request b, and one of
// added stands beside a word beside which b has w.
func (p *profile) hasReplaced(b *profile, w *word, added []*word) bool {
	near := b.around(w, 1)
	return p.countOf(w) < b.countOf(w) && slices.ContainsFunc(added, func(o *word) bool { return haveSimilar(near, p.around(o, 2)) })
}

// countRuns returns at how many places the text has one of words or several in a row.
func (p *profile) countRuns(words []*word) int {
	n := 0
	inRun := false
	for i, w := range p.words {
		isOne := slices.Contains(words, w)
		if isOne && (!inRun || !p.tokens[i].isInPhrase()) {
			n++
		}
		inRun = isOne
	}
	return n
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

// countOf returns how many content words of the text are similar to w.
func (p *profile) countOf(w *word) int {
	return slicesx.CountFunc(p.content, func(o **word) bool { return areSimilar(*o, w) })
}

// around returns the content words next to w at each of its places, up to n on each side.
func (p *profile) around(w *word, n int) (out []*word) {
	for i, o := range p.content {
		if o == w {
			out = append(out, p.content[max(0, i-n):min(len(p.content), i+n+1)]...)
		}
	}
	return slices.DeleteFunc(out, func(o *word) bool { return o == w })
}

// isTold reports whether the text p has w only in sentences without a content word of the request b.
func (p *profile) isTold(b *profile, w *word) bool {
	isShared := func(o *word) bool { return o != nil && isProper(o) && o != w && b.standsFor(p, o, nil) }
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

// negationDifference describes a word that the request b has and the text p negates, or the reverse:
// "without gemstones" became "with gemstones". Of a word that the request has both ways, a copy
// (template of at least copyTemplate) must negate as many as the request. It returns "" if there is none.
func negationDifference(b, p *profile, template float64) string {
	textStates := p.negations()
	for _, s := range b.negations() {
		for _, o := range textStates {
			isOther := s.isNegated() != o.isNegated() && !s.isMixed()
			isLost := template >= copyTemplate && s.isMixed() && s.negated != o.negated
			if (isOther || isLost) && isSameWord(s.word, o.word) {
				return fmt.Sprintf("%q is negated in one of the two", s.word.text)
			}
		}
	}
	return ""
}

// wordState is a word of a text, and how often the text has it in any of its forms, and negates it.
type wordState struct {
	word           *word
	total, negated int
}

func (s wordState) isNegated() bool { return s.negated > 0 }

// isMixed reports whether the text negates the word only in some places.
func (s wordState) isMixed() bool { return s.negated > 0 && s.negated < s.total }

// negations returns for each stem of the text that says what is asked for how often it is negated, in
// the order of the text. "Unscented" negates "scented".
func (p *profile) negations() (states []wordState) {
	indices := map[uint64]int{}
	add := func(w *word, isNegated bool) {
		at, ok := indices[w.hash]
		if !ok {
			at = len(states)
			indices[w.hash] = at
			states = append(states, wordState{word: w})
		}
		states[at].total++
		if isNegated {
			states[at].negated++
		}
	}
	for i, w := range p.words {
		if w == nil || !w.content && w.services == 0 {
			continue
		}
		isNegated := p.isNegated(i)
		add(w, isNegated)
		if o := w.deniedPart(); o != nil {
			add(o, !isNegated)
		}
	}
	return states
}

// deniedPart returns the word that a prefix or an ending of w denies: "scented" of "unscented", "strap" of
// "strapless". It returns nil if there is none.
func (w *word) deniedPart() *word {
	start := w.text
	for _, ending := range []string{"less", "free"} {
		start = strings.TrimSuffix(start, ending)
	}
	for _, prefix := range []string{"un", "non"} {
		start = strings.TrimPrefix(start, prefix)
	}
	if start == w.text || len(start) < minStem || len(w.classes) > 0 { // "cordless" is a value itself
		return nil
	}
	part := &word{text: start, stem: stem(start)}
	part.hash = hashStem(part.stem)
	part.synonyms = loadLexicon().synonyms[part.stem]
	return part
}

// denies reports whether a prefix or an ending of a denies b, as "unscented" does "scented".
func denies(a, b *word) bool {
	part := a.deniedPart()
	return part != nil && part.hash == b.hash
}

// isSameWord reports whether two words are forms of one word, are synonyms or name one value, such
// as a colour.
func isSameWord(a, b *word) bool {
	return a.stem == b.stem || shareElement(a.synonyms, b.synonyms) || shareElement(a.classes, b.classes) || areForms(a.text, b.text)
}
