package analyzer

import "github.com/blevesearch/go-porterstemmer"

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
