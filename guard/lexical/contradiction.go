package lexical

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// The share of a text's word pairs that the base has indicates the text's origin.
// From copyTemplate on the text is the base with changes, so that a replaced word
// is suspect. From verbatimTemplate on even the number of occurrences of each word
// counts. A text in another person's words shares fewer pairs and replaces most
// words.
const (
	copyTemplate     = 0.45
	verbatimTemplate = 0.75
)

// contradiction returns a description of the first constraint on which base and
// text differ, empty if they agree on all.
func contradiction(b, p *profile, f features) string {
	checks := [...]func(b, p *profile, template float64) string{
		numberDifference, serviceDifference, classDifference, wordDifference, nounDifference,
	}
	for _, check := range checks {
		if difference := check(b, p, f[template]); difference != "" {
			return difference
		}
	}
	return ""
}

// numberDifference returns a number that was replaced, changed from a lower to an
// upper bound, or, in a copy, removed or added.
func numberDifference(b, p *profile, template float64) string {
	missing := missingNumbers(b, p)
	extra := missingNumbers(p, b)
	switch {
	case len(missing) > 0 && len(extra) > 0:
		return fmt.Sprintf("number %s became %s", missing[0], extra[0])
	case template >= copyTemplate && len(missing) > 0:
		return fmt.Sprintf("number %s is missing", missing[0])
	case template >= copyTemplate && len(extra) > 0:
		return fmt.Sprintf("number %s was added", extra[0])
	}
	for _, n := range b.numbers {
		for _, o := range p.numbers {
			if n.isSameAmount(o) && n.isOppositeBound(o) {
				return fmt.Sprintf("number %s is another kind of bound", n)
			}
		}
	}
	return ""
}

// missingNumbers returns the numbers of a that b does not have, neither in digits
// nor, if they are small, in words.
func missingNumbers(a, b *profile) []number {
	return slicesx.FilterMap(a.numbers, func(n number) (number, bool) {
		return n, !hasNumber(b.numbers, n) && !b.hasCount(n.value)
	})
}

// isOppositeBound reports whether one text uses a number only as a lower bound and
// the other only as an upper one.
func (n number) isOppositeBound(o number) bool {
	const up, down = 1 << above, 1 << below
	a := n.directions & (up | down)
	b := o.directions & (up | down)
	return a == up && b == down || a == down && b == up
}

func (n number) isBound() bool {
	return n.directions&(1<<above|1<<below) != 0
}

// String returns the number with its unit. Nine digits make 6 inches 152.4 mm and
// not 152.39999999999998.
func (n number) String() string {
	return strings.TrimSpace(fmt.Sprintf("%.9g %s", n.value, n.unit))
}

// serviceDifference returns a delivery term that was added or, in a copy, removed.
// Another person may ask for it in words that the lexicon does not have.
func serviceDifference(b, p *profile, template float64) string {
	for i, name := range serviceNames {
		bit := uint8(1) << i
		inBase := b.services&bit != 0
		inText := p.services&bit != 0
		switch {
		case inText && !inBase:
			return name + " was added"
		case inBase && !inText && template >= copyTemplate:
			return name + " is not asked for"
		}
	}
	return ""
}

// classDifference returns a closed class with a replaced value. Only the hard
// classes are compared unless the text is a verbatim copy.
func classDifference(b, p *profile, template float64) string {
	l := loadLexicon()
	for i, name := range l.names {
		if template < verbatimTemplate && !l.hard[i] {
			continue
		}
		class := uint8(i)
		if lacks(b.values, p.values, class) && lacks(p.values, b.values, class) {
			return "another " + name
		}
	}
	return ""
}

// maxChangedWords is the number of words that a copy may omit, or add, and still
// ask for the same.
const maxChangedWords = 1

// wordDifference returns, for a copy, content words that were replaced. A single
// word that was omitted or added proves little ("grey condition").
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

// nounDifference returns a thing that was replaced by another one of the same kind:
// "stainless steel kitchen tools", "stainless steel soap dishes". The noun was
// replaced if a phrase of the text shares a word with one of the base and ends with
// a noun that the base does not have, and the text has no other new words. A text
// in another person's words has more of them.
func nounDifference(b, p *profile, _ float64) string {
	newWords := missingWords(p, b, 0)
	if len(newWords) == 0 {
		return ""
	}
	textPhrases := p.phrases()
	for _, phrase := range b.phrases() {
		last := len(phrase) - 1
		if last == 0 || p.hasMeaning(phrase[last], nil) {
			continue
		}
		for _, other := range textPhrases {
			noun := other[len(other)-1]
			if slices.Contains(newWords, noun) && isSubset(newWords, other) && haveSimilar(phrase[:last], other) {
				return fmt.Sprintf("%q became %q", phrase[last].text, noun.text)
			}
		}
	}
	return ""
}

// isSubset reports whether all words of a are in b, which has no fewer.
func isSubset(a, b []*word) bool {
	if len(a) > len(b) {
		return false
	}
	return !slices.ContainsFunc(a, func(w *word) bool {
		return !slices.Contains(b, w)
	})
}

// haveSimilar reports whether a word of a is similar to one of b.
func haveSimilar(a, b []*word) bool {
	for _, w := range a {
		if slices.ContainsFunc(b, func(o *word) bool { return areSimilar(o, w) }) {
			return true
		}
	}
	return false
}

// phrases returns the runs of content words that only white space or hyphens
// separate.
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

// missingWords returns the content words of a without a counterpart in b. In a
// verbatim copy each word of b is the counterpart of one word only.
func missingWords(a, b *profile, template float64) []*word {
	var used []bool
	if template >= verbatimTemplate {
		used = make([]bool, len(b.content))
	}
	return slicesx.FilterMap(a.content, func(w *word) (*word, bool) {
		return w, !b.hasMeaning(w, used)
	})
}

// hasMeaning reports whether a word of p is similar to w. If used is not nil, words
// that it marks are skipped and the word found is marked.
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

// areSimilar reports whether two words may have one meaning: by spelling, as a
// typing error, a synonym, a value of one class, or by a common prefix.
func areSimilar(a, b *word) bool {
	if a.stem == b.stem || isTypo(a, b) {
		return true
	}
	if shareElement(a.synonyms, b.synonyms) || shareElement(a.classes, b.classes) {
		return true
	}
	return sharePrefix(a.stem, b.stem)
}

func shareElement[T comparable](a, b []T) bool {
	for _, v := range a {
		if slices.Contains(b, v) {
			return true
		}
	}
	return false
}

// minTypoWord is the length of the shortest word that may have a typing error if
// two texts are compared.
const minTypoWord = 4

// isTypo reports whether one word is a misspelling of the other: they are one edit
// apart, and only one of them is a known word.
func isTypo(a, b *word) bool {
	if a.known == b.known || min(len(a.text), len(b.text)) < minTypoWord {
		return false
	}
	return isOneEdit(a.text, b.text)
}
