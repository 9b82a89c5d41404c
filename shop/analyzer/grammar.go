package analyzer

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

//go:embed classes.txt
var classText string

//go:embed grammar.txt
var grammarText string

// class is a class of characters, state a place in a grammar; 0 is none and nowhere.
type class uint8
type state uint8

// start is the first state of each grammar.
const start state = 1

// most is more than there are states or classes.
const most = 32

// grammar says which state follows on a class, and where a word may end.
type grammar struct {
	moves     [most][most]state
	accepting [most]bool
}

// longest is the length in bytes of the longest word at the beginning of s, in
// maxWord UTF-16 units at most; 0 is none.
func (g *grammar) longest(s string, classes *classTable) (size int) {
	at, units := start, 0
	for i, r := range s {
		units += utf16.RuneLen(r)
		if at = g.moves[at][classes.of(r)]; at == 0 || units > maxWord {
			return size
		}
		if g.accepting[at] {
			size = i + utf8.RuneLen(r)
		}
	}
	return size
}

// pageSize is how many characters share a page of the table; most pages are
// equal to another and stored once.
const pageSize = 256

type classTable struct {
	page  [(1<<20 + 1<<16) / pageSize]uint16
	pages [][pageSize]class
}

func (t *classTable) of(r rune) class { return t.pages[t.page[r/pageSize]][r%pageSize] }

type tables struct {
	classes      *classTable
	words, emoji *grammar
}

// read are the tables of both files, made when the first text needs them. A fault in a
// file is one of the program.
var read = sync.OnceValue(func() *tables {
	classes, named := readClasses(paragraphs(classText)[1:])
	parts := paragraphs(grammarText)[1:]
	for line := range strings.Lines(parts[0]) {
		names := strings.Fields(line)
		for _, name := range names[1:] {
			named[names[0]] = append(named[names[0]], named[name]...)
		}
	}
	return &tables{classes, readGrammar(parts[1], named), readGrammar(parts[2], named)}
})

func paragraphs(text string) []string { return strings.Split(strings.TrimSpace(text), "\n\n") }

// readClasses reads classes, each a name and ranges of characters.
func readClasses(paragraphs []string) (*classTable, map[string][]class) {
	all, named := make([]class, 1<<20+1<<16), map[string][]class{}
	for i, paragraph := range paragraphs {
		words := strings.Fields(paragraph)
		c := class(i + 1)
		named[words[0]] = []class{c}
		for _, word := range words[1:] {
			from, to, ranged := strings.Cut(word, "-")
			if !ranged {
				to = from
			}
			for r := character(from); r <= character(to); r++ {
				all[r] = c
			}
		}
	}
	t, known := &classTable{}, map[[pageSize]class]uint16{}
	for i := range t.page {
		p := [pageSize]class(all[i*pageSize:])
		n, ok := known[p]
		if !ok {
			n = uint16(len(t.pages))
			known[p], t.pages = n, append(t.pages, p)
		}
		t.page[i] = n
	}
	return t, named
}

func character(hex string) uint64 {
	r, err := strconv.ParseUint(hex, 16, 21)
	if err != nil {
		panic(fmt.Sprintf("classes.txt: %v", err))
	}
	return r
}

func readGrammar(text string, named map[string][]class) *grammar {
	g, states := &grammar{}, map[string]state{}
	number := func(name string) state {
		if states[name] == 0 {
			states[name] = start + state(len(states))
		}
		return states[name]
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		name, accepts := strings.CutSuffix(words[0], ".")
		at := number(name)
		g.accepting[at] = accepts
		for _, move := range words[1:] {
			on, to, _ := strings.Cut(move, ">")
			if named[on] == nil {
				panic("grammar.txt: there is no class " + on)
			}
			for _, c := range named[on] {
				g.moves[at][c] = number(to)
			}
		}
	}
	return g
}

// eachWord segments a text: at each character the longest
// word or emoji; a character that begins neither is left out.
func eachWord(s string, emit func(string)) {
	for t := read(); s != ""; {
		n := max(t.words.longest(s, t.classes), t.emoji.longest(s, t.classes))
		if n > 0 {
			emit(s[:n])
		} else {
			_, n = utf8.DecodeRuneInString(s)
		}
		s = s[n:]
	}
}
