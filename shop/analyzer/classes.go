package analyzer

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

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
