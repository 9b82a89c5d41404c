package lexical

import (
	"slices"

	"github.com/trajectory-arena/arena/internal/text"
)

// minTypoStem is the minimum length in bytes of two words of which one may be the other with any
// letter changed, added or left out, minSwapStem that of a word with two neighbouring letters
// swapped, a letter doubled, or a double letter written once. A word of four letters with one letter
// changed is often another word, with two letters swapped hardly ever.
const (
	minTypoStem = 5
	minSwapStem = 4
)

// isMisspelling reports whether a is likely b with one typing error, or b is a with one.
func isMisspelling(a, b string) bool {
	isSlip := isSwap(a, b) || isDoubling(a, b) || isDoubling(b, a)
	if isSlip && max(len(a), len(b)) >= minSwapStem {
		return true
	}
	return min(len(a), len(b)) >= minTypoStem && text.Distance(a, b) == 1
}

// isDoubling reports whether long is short with one of its letters doubled: "glass", "glas".
func isDoubling(long, short string) bool {
	n := commonPrefix(short, long)
	return n > 0 && len(long) == len(short)+1 && long[n] == long[n-1] && long[n+1:] == short[n:]
}

// addFunctionWord adds a word of a protected request to the words that the method correction may
// return, if the word is a stop word of the lexicon or part of one of its phrases.
func (v *vocabulary) addFunctionWord(w string) {
	l := loadLexicon()
	if !l.stop[w] && !l.inPhrase[w] {
		return
	}
	for _, d := range deletions(w) {
		if !slices.Contains(v.functionWords[d], w) {
			v.functionWords[d] = append(v.functionWords[d], w)
		}
	}
}

// correction returns the first function word of the requests (see addFunctionWord) that w is likely
// a misspelling of: "dleivery" is "delivery", which is a delivery term after "cash on". It returns
// w if there is none. The first and the last letter must be right, since words of one syllable
// often differ in these alone.
func (v *vocabulary) correction(w string) string {
	l := loadLexicon()
	if l.inPhrase[w] {
		return w
	}
	for _, d := range deletions(w) {
		for _, word := range v.functionWords[d] {
			isInside := word[0] == w[0] && word[len(word)-1] == w[len(w)-1]
			if isInside && isMisspelling(w, word) {
				return word
			}
		}
	}
	return w
}
