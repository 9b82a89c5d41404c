// Package analyzer turns text into index terms exactly as the subnet's search
// engine does: words by Unicode's segmentation, the possessive dropped, lower
// case, 33 stop words dropped, Porter's stems.
package analyzer

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxWord is the longest word in UTF-16 units (the default of Lucene's
// StandardTokenizer, which looks no further): what is left of a longer one is
// read anew.
const maxWord = 255

var stopWords = set("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of", "on",
	"or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with")

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// Terms calls emit with every index term of text in its order. The slice is
// valid during the call only.
func Terms(text string, emit func([]byte)) {
	var buf [maxWord + 1]byte
	finish := func(word string) { term(buf[:0], word, emit) }
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			unicodeWords(text, finish)
			return
		}
	}
	asciiWords(text, finish)
}

// term finishes one word: possessive, case, stop words, stem.
func term(b []byte, word string, emit func([]byte)) {
	word = withoutPossessive(word)
	plain := true
	for i := range len(word) {
		c := word[i]
		if c >= utf8.RuneSelf {
			plain = false
			break
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	if !plain {
		lowerTerm(word, emit)
		return
	}
	if len(b) > 0 && !stopWords[string(b)] {
		emit(b[:stem(b)])
	}
}

// lowerTerm finishes a word that is not ASCII. Lower case can make it so, as
// with the Kelvin sign. Stems are those of UTF-16 units: three of them are a
// word long enough for one, and two may be one character.
func lowerTerm(word string, emit func([]byte)) {
	lower := strings.Map(unicode.ToLower, word)
	if stopWords[lower] {
		return
	}
	units := utf16.Encode([]rune(lower))
	emit([]byte(string(utf16.Decode(units[:stem(units)]))))
}

// withoutPossessive drops a final 's, with any of three apostrophes.
func withoutPossessive(word string) string {
	n := len(word)
	if n < 2 || word[n-1]|0x20 != 's' {
		return word
	}
	r, size := utf8.DecodeLastRuneInString(word[:n-1])
	if r == '\'' || r == '’' || r == '＇' {
		return word[:n-1-size]
	}
	return word
}
