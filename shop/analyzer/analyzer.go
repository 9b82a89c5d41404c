// Package analyzer turns text into index terms exactly as the subnet's search
// engine does: words by Unicode's segmentation, the possessive dropped, lower
// case, 33 stop words dropped, Porter's stems.
package analyzer

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/blevesearch/go-porterstemmer"
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

// class is what the grammar of words tells characters by.
type class uint8

const (
	other class = iota
	letter
	hebrew
	digit
	katakana
	// underscore and its like join everything.
	underscore
	// midBoth (. and the like) joins letters or digits, as the quote ' does;
	// midLetter (:) letters, midDigit (, and ;) digits.
	midLetter
	midDigit
	midBoth
	quote
	doubleQuote
	// From extend to tagEnd are the characters that belong to the one before.
	extend
	joiner
	complexMark
	textSelector
	emojiSelector
	modifier
	keycap
	tag
	tagEnd
	// complexLetter is of a script without blanks between words.
	complexLetter
	han
	hiragana
	pictograph
	letterPictograph
	regional
	keycapBase
	classCount
)

func (c class) extends() bool { return c >= extend && c <= tagEnd }

var classNames = map[string]class{
	"letter": letter, "hebrew": hebrew, "digit": digit, "katakana": katakana, "underscore": underscore,
	"midLetter": midLetter, "midDigit": midDigit, "midBoth": midBoth, "quote": quote, "doubleQuote": doubleQuote,
	"extend": extend, "joiner": joiner, "complexMark": complexMark, "textSelector": textSelector, "emojiSelector": emojiSelector,
	"modifier": modifier, "keycap": keycap, "tag": tag, "tagEnd": tagEnd, "complex": complexLetter, "han": han, "hiragana": hiragana,
	"pictograph": pictograph, "letterPictograph": letterPictograph, "regional": regional, "keycapBase": keycapBase,
}

//go:embed classes.txt
var classData string

// pageSize is how many characters share a page of the table; most pages are
// equal to another and stored once.
const pageSize = 256

type classTable struct {
	page  [(1<<20 + 1<<16) / pageSize]uint16
	pages [][pageSize]class
}

func (t *classTable) of(r rune) class { return t.pages[t.page[r/pageSize]][r%pageSize] }

// classes is the table of classes.txt, made when the first text needs it.
var classes = sync.OnceValue(func() *classTable {
	all := make([]class, 1<<20+1<<16)
	current := other
	_, data, _ := strings.Cut(classData, "\n\n") // behind the comment
	for word := range strings.FieldsSeq(data) {
		if c, ok := classNames[word]; ok {
			current = c
			continue
		}
		first, last := characterRange(word)
		for r := first; r <= last; r++ {
			all[r] = current
		}
	}
	return newClassTable(all)
})

// characterRange reads "3040" or "3040-309F". The file is part of the program,
// so a fault in it is one of the program.
func characterRange(s string) (first, last uint64) {
	from, to, ok := strings.Cut(s, "-")
	if !ok {
		to = from
	}
	first, err := strconv.ParseUint(from, 16, 21)
	if err == nil {
		last, err = strconv.ParseUint(to, 16, 21)
	}
	if err != nil {
		panic(fmt.Sprintf("classes.txt: %v", err))
	}
	return first, last
}

func newClassTable(all []class) *classTable {
	t := &classTable{}
	known := map[[pageSize]class]uint16{}
	for i := range t.page {
		p := [pageSize]class(all[i*pageSize:])
		n, ok := known[p]
		if !ok {
			n = uint16(len(t.pages))
			known[p] = n
			t.pages = append(t.pages, p)
		}
		t.page[i] = n
	}
	return t
}
