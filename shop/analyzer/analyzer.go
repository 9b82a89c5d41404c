// Package analyzer splits text into the same index terms as the subnet's search engine. It finds
// words by Unicode's segmentation, removes the possessive, converts to lower case, drops 33 stop
// words and computes Porter's stems.
package analyzer

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/blevesearch/go-porterstemmer"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// maxWord is the maximum length of a word in UTF-16 units, as in Lucene's StandardTokenizer. A
// longer word is split into words of that length.
const maxWord = 255

var stopWords = slicesx.Set(strings.Fields(`
	a an and are as at be but by for if in into is it no not of on
	or such that the their then there these they this to was will with
`))

// Terms calls emit with every index term of text in order.
func Terms(text string, emit func([]byte)) {
	eachWord(text, func(word string) { emitTerm(word, emit) })
}

// emitTerm calls emit with the index term of a word, which is the stem of the word in lower case
// without a possessive. It does nothing for a stop word. Like the search engine, it stems UTF-16
// units, of which a character may have two.
func emitTerm(word string, emit func([]byte)) {
	lower := strings.ToLower(withoutPossessive(word))
	if lower == "" || stopWords[lower] {
		return
	}
	units := utf16.Encode([]rune(lower))
	letters := make([]rune, len(units))
	for i, unit := range units {
		letters[i] = rune(unit)
	}
	stemmed := stem(letters)
	for i, letter := range stemmed {
		units[i] = uint16(letter)
	}
	emit([]byte(string(utf16.Decode(units[:len(stemmed)]))))
}

// withoutPossessive returns a word without a final 's. The apostrophe may be any of three
// characters.
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

// stem returns the Porter stem of a word in lower case ("An algorithm for suffix stripping",
// 1980, with the two later changes of its author: bli to ble, logi to log). It may overwrite
// word. Words of one or two letters are unchanged. Two words that consist of a suffix are
// handled here, because the library stems them wrongly.
func stem(word []rune) []rune {
	switch string(word) {
	case "eed":
		return word
	case "ies":
		return word[:1]
	}
	return porterstemmer.StemWithoutLowerCasing(word)
}
