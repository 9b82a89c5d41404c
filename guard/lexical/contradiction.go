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
		numberDifference, letterDifference, serviceDifference, classDifference, negationDifference, itemDifference,
		itemValueDifference, wordDifference, nounDifference, replacedInCopy,
	}
	for _, check := range checks {
		if difference := check(b, p, f[template]); difference != "" {
			return difference
		}
	}
	return ""
}

// serviceDifference describes a delivery term, such as free shipping, that only one of the request
// b and the text p has. A term that is no name and that the text omits counts only if the text says
// nothing of delivery or is a copy of the request (template of at least copyTemplate), since
// another author may express it in words that the lexicon lacks. It returns "" if there is no
// difference.
func serviceDifference(b, p *profile, template float64) string {
	has := func(role string) bool { // and not as in "hand cream" of the request
		return slices.ContainsFunc(p.words, func(w *word) bool { return w != nil && loadLexicon().roles[role][w.text] && !b.hasWord(w) })
	}
	isTold := map[uint8]bool{services["svccod"]: has("paying"), services["svcfree"]: has("sending")}
	for i, name := range serviceNames {
		bit := uint8(1) << i
		inBase := b.services&bit != 0
		inText := p.services&bit != 0
		mayBeTold := isTold[bit] || p.knownShare() < minReadShare
		isLost := template >= copyTemplate || !mayBeTold
		switch {
		case inText && !inBase:
			return name + " was added"
		case inBase && p.denied&^b.denied&bit != 0:
			return name + " is excluded"
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
		if template >= verbatimTemplate && b.losesValue(p, class) && p.losesValue(b, class) {
			return "another " + name
		}
		if lacks(b.values, p.values, class) && lacks(p.values, b.values, class) {
			return "another " + name
		}
	}
	return ""
}

// losesValue reports whether o has some value of the class less often than p.
func (p *profile) losesValue(o *profile, class uint8) bool {
	return slices.ContainsFunc(p.values, func(v classValue) bool { return v.class == class && p.countValue(v) > o.countValue(v) })
}

// countValue returns how many words of the text stand for the value.
func (p *profile) countValue(v classValue) int {
	return slicesx.CountFunc(p.words, func(w **word) bool { return *w != nil && slices.Contains((*w).classes, v) })
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
			if !slices.Contains(newWords, noun) || loadLexicon().roles["general"][noun.text] {
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

// letterDifference describes a letter that the text p replaced after the same word, or added after
// a word such as "model": "type c" became "type d". It returns "" if there is none.
func letterDifference(b, p *profile, _ float64) string {
	old := b.letters()
	for _, o := range p.letters() {
		if slices.ContainsFunc(old, func(s lettered) bool { return s.letter == o.letter }) {
			continue
		}
		for _, s := range old {
			isLost := !slices.ContainsFunc(p.letters(), func(o lettered) bool { return o.letter == s.letter })
			if s.label == o.label && isLost {
				return fmt.Sprintf("%s %s became %s", s.label, s.letter, o.letter)
			}
		}
		if loadLexicon().roles["label"][o.label] && !slices.ContainsFunc(b.tokens, func(t token) bool { return t.text == o.letter }) {
			return fmt.Sprintf("%s %s was added", o.label, o.letter)
		}
	}
	return ""
}

// lettered is a letter of a text and the word beside it: "c" of "type c", "l" of "l-shaped".
type lettered struct{ label, letter string }

// letters returns the letters of the text that stand after a word. A phrase such as "type c" is one
// word of it.
func (p *profile) letters() (out []lettered) {
	for i, w := range p.words {
		switch {
		case w == nil:
		case w.text == "typec":
			out = append(out, lettered{"type", "c"})
		case !isLetter(w):
		case i > 0 && p.words[i-1] != nil && p.tokens[i].isBeside():
			out = append(out, lettered{p.words[i-1].stem, w.text})
		case i+1 < len(p.words) && p.words[i+1] != nil && p.tokens[i+1].before == '-':
			out = append(out, lettered{p.words[i+1].stem, w.text})
		}
	}
	return out
}
