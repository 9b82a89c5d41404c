// Package analyzer turns text into index terms exactly as the subnet's search
// engine does: words by Unicode's segmentation, the possessive dropped, lower
// case, 33 stop words dropped, Porter's stems.
package analyzer

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/blevesearch/go-porterstemmer"
)

// maxWord is the longest word in UTF-16 units (the default of Lucene's
// StandardTokenizer, which looks no further): what is left of a longer one is
// read anew.
const maxWord = 255

var stopWords = map[string]bool{
	"a": true, "an": true, "and": true, "are": true, "as": true, "at": true, "be": true, "but": true, "by": true,
	"for": true, "if": true, "in": true, "into": true, "is": true, "it": true, "no": true, "not": true, "of": true,
	"on": true, "or": true, "such": true, "that": true, "the": true, "their": true, "then": true, "there": true,
	"these": true, "they": true, "this": true, "to": true, "was": true, "will": true, "with": true,
}

// Terms calls emit with every index term of text in its order.
func Terms(text string, emit func([]byte)) {
	eachWord(text, func(word string) { term(word, emit) })
}

// term finishes one word: possessive, case, stop words, stem. Stems are those of
// UTF-16 units: three of them are a word long enough for one, and two may be one
// character.
func term(word string, emit func([]byte)) {
	lower := strings.ToLower(withoutPossessive(word))
	if lower == "" || stopWords[lower] {
		return
	}
	units := utf16.Encode([]rune(lower))
	letters := make([]rune, len(units))
	for i, unit := range units {
		letters[i] = rune(unit)
	}
	left := stem(letters)
	for i, letter := range left {
		units[i] = uint16(letter)
	}
	emit([]byte(string(utf16.Decode(units[:len(left)]))))
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

// stem is Porter's stem of a word in lower case ("An algorithm for suffix
// stripping", 1980, with the two departures of its author's later programs: bli
// becomes ble, logi becomes log). It may write over word. Words of one or two letters
// stay, and of two that are a suffix altogether the library leaves too little or too
// much.
func stem(word []rune) []rune {
	switch string(word) {
	case "eed":
		return word
	case "ies":
		return word[:1]
	}
	return porterstemmer.StemWithoutLowerCasing(word)
}
