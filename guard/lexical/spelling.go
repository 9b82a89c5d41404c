package lexical

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
	return min(len(a), len(b)) >= minTypoStem && isOneEdit(a, b)
}

// isDoubling reports whether long is short with one of its letters doubled: "glass", "glas".
func isDoubling(long, short string) bool {
	n := commonPrefix(short, long)
	return n > 0 && len(long) == len(short)+1 && long[n] == long[n-1] && long[n+1:] == short[n:]
}

// addFunctionWord adds a word of a protected request to the words that the method correction may
// return, if the word is a stop word of the lexicon or part of one of its phrases, and no word for people.
func (v *vocabulary) addFunctionWord(w string) {
	l := loadLexicon()
	audience := slices.Index(l.names, "audience")
	isPerson := slices.ContainsFunc(l.classesOf(w), func(v classValue) bool { return int(v.class) == audience })
	if !l.stop[w] && (!l.inPhrase[w] || isPerson) {
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

// mayMean reports whether the word w of the text p may have the same meaning as a word of the other text
// (see areSimilar). The text, and not the request, may also have the start of a word: "desk" for "desktop".
// "Unpadded" and "padded" are one word here, since negationDifference compares which of them is asked for.
func (p *profile) mayMean(w, other *word) bool {
	if denies(w, other) || denies(other, w) {
		return true
	}
	if p.lexicon != nil {
		return areSimilar(w, other) || isStartOf(other.text, w.text)
	}
	return areSimilar(w, other) || isStartOf(w.text, other.text)
}

// isStartOf reports whether long is start with an ending, or start is short for long, as "desk" for
// "desktop". "Book" is not short for "bookshelf".
func isStartOf(start, long string) bool {
	end, isStart := strings.CutPrefix(long, start)
	return isStart && len(start) >= minPrefix && (isEnding(start, end) || !loadLexicon().roles["compound"][strings.TrimSuffix(end, "s")])
}

// areSimilar reports whether two words may have the same meaning: they have the same stem or the same
// start with endings, are synonyms or names of one value such as a colour, or one is a misspelling of
// the other.
func areSimilar(a, b *word) bool {
	if a.stem == b.stem || isTypo(a, b) {
		return true
	}
	return shareElement(a.synonyms, b.synonyms) || shareElement(a.classes, b.classes) || areForms(a.text, b.text)
}

// areForms reports whether two words are likely forms of one: they have a common start of at least
// minPrefix bytes, after which an ending follows in both: "decorat", of "decoration" and "decorative".
// If the words have more in common, the start has at least minStart bytes: "station" is no form of "static",
// nor "fiberglass" of "fiber".
func areForms(a, b string) bool {
	common := commonPrefix(a, b)
	for n := common; n >= minPrefix && (n == common || n >= minStart); n-- {
		if isEnding(a[:n], a[n:]) && isEnding(b[:n], b[n:]) {
			return true
		}
	}
	return false
}

// minStart is the minimum length in bytes of the start of two forms of a word that have more in common.
const minStart = 5

// isEnding reports whether end is nothing or an ending, also after a doubled letter: "slim", "slimming".
func isEnding(start, end string) bool {
	endings := loadLexicon().roles["ending"]
	return end == "" || endings[end] || end[0] == start[len(start)-1] && endings[end[1:]]
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
	// minTypoPair is the length from which two words that the lexicon knows differ by a misspelling.
	minTypoPair = 10
)

// isTypo reports whether one word is likely a misspelling of the other: they differ by one edit or
// two swapped letters, both are long enough, and only one of them is a known word or both are long.
func isTypo(a, b *word) bool {
	isLong := min(len(a.text), len(b.text)) >= minTypoPair
	mayBeSlip := a.known != b.known || isLong
	return mayBeSlip && a.isLongEnough() && b.isLongEnough() && isOneEdit(a.text, b.text)
}

func (w *word) isLongEnough() bool {
	if !w.known && !strings.ContainsAny(w.text, "aeiouy") {
		return len(w.text) >= minConsonants
	}
	return len(w.text) >= minTypoWord
}

// hasSpelling reports whether w may be a misspelling of a word of the text, also of a stop word.
func (p *profile) hasSpelling(w *word) bool {
	return w.isLongEnough() && slices.ContainsFunc(p.words, func(o *word) bool { return o != nil && isOneEdit(o.text, w.text) })
}

// translations returns the English words for a word of another language: those of the word itself, of
// the word without a prefix or with another ending, or of the parts of a German compound.
func (l *lexicon) translations(w string) []string {
	if english := l.foreign[w]; english != nil {
		return english
	}
	first, _ := utf8.DecodeRuneInString(w)
	switch {
	case isASCII(w):
		if english := l.inflected(w, latinEndings, minLatin); english != nil {
			return english
		}
		return l.compound(w)
	case unicode.Is(unicode.Cyrillic, first):
		return l.inflected(w, cyrillicEndings, minInflected)
	case unicode.Is(unicode.Devanagari, first):
		return l.inflected(w, hindiEndings, minInflected)
	case unicode.Is(unicode.Arabic, first):
		return l.prefixed(w)
	}
	return nil
}

// minInflected is the minimum length in letters of a word without its ending or prefix, minLatin that of
// a word in Latin letters, of which more end alike.
const (
	minInflected = 3
	minLatin     = 4
)

// The endings of nouns and adjectives, the longest first; "" is none.
var (
	latinEndings    = []string{"es", "en", "er", "em", "os", "as", "s", "e", "n", "x", "o", "a", ""}
	cyrillicEndings = []string{"ыми", "ими", "ого", "его", "ому", "ему", "ами", "ями", "ах", "ях", "ов", "ев", "ей", "ой", "ый", "ий", "ая", "яя", "ое", "ее", "ые", "ие", "ую", "юю", "ым", "им", "ом", "ем", "ам", "ям", "а", "я", "о", "е", "ы", "и", "у", "ю", "ь", ""}
	hindiEndings    = []string{"ियों", "ियां", "ियाँ", "ाओं", "ओं", "ों", "ें", "ाएं", "ी", "ा", "े", "ो", "ि", ""}
)

// inflected returns the translations of a word that differs from w in its ending only. What is before the
// ending has at least minStart letters.
func (l *lexicon) inflected(w string, endings []string, minStart int) []string {
	for _, ending := range endings {
		start, ok := strings.CutSuffix(w, ending)
		if !ok || utf8.RuneCountInString(start) < minStart {
			continue
		}
		for _, other := range endings {
			if english := l.foreign[start+other]; english != nil {
				return english
			}
		}
	}
	return nil
}

// arabicPrefixes are the article and the prepositions that are written together with a word.
var arabicPrefixes = []string{"وال", "بال", "كال", "فال", "لل", "ال", "و", "ب", "ل", "ف", "ك"}

var arabicEndings = []string{"ات", "ين", "ون", "ة", "ًا", "ا", ""}

// prefixed returns the translations of an Arabic word without one of arabicPrefixes.
func (l *lexicon) prefixed(w string) []string {
	for _, prefix := range append(slices.Clone(arabicPrefixes), "") {
		start, ok := strings.CutPrefix(w, prefix)
		if !ok {
			continue
		}
		if english := l.foreign[start]; english != nil {
			return english
		}
		if english := l.inflected(start, arabicEndings, minInflected); english != nil {
			return english
		}
	}
	return nil
}

// minCompound is the minimum length in bytes of a compound, and minPart that of each part.
const (
	minCompound = 8
	minPart     = 4
)

// compound returns the translations of two words that w is made of, as German words are: "fusspflege" is
// "foot care". An s, n or en may be between the two.
func (l *lexicon) compound(w string) []string {
	if len(w) < minCompound || strings.HasSuffix(w, "frei") || strings.HasSuffix(w, "los") { // "sugar-free"
		return nil
	}
	for i := minPart; i+minPart <= len(w); i++ {
		for _, joint := range []string{"", "s", "n", "en"} {
			first := l.foreign[strings.TrimSuffix(w[:i], joint)]
			if first == nil {
				continue
			}
			if second := l.inflected(w[i:], latinEndings, minPart); second != nil {
				return slices.Concat(first, second)
			}
		}
	}
	return nil
}
