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

// classText has the classes of characters, in the form that parseClasses reads.
//
//go:embed classes.txt
var classText string

// grammarText has unions of classes, and the automata for words and for emoji. loadTables parses it.
//
//go:embed grammar.txt
var grammarText string

type (
	// class is the number of a set of characters, such as letters or digits, that the automata for
	// words do not distinguish. It is 0 for a character in none of the sets.
	class uint8
	// state is the number of a state of a grammar's automaton. The value 0 means that there is
	// no next state.
	state uint8
)

// start is the number of the state in which each automaton begins.
const start state = 1

// maxStates is the number of states, and also of classes, that the table of a grammar has space
// for: more than the embedded grammars have.
const maxStates = 32

// grammar is a finite automaton that recognises words or emoji.
type grammar struct {
	// next is the next state for each state and class.
	next [maxStates][maxStates]state
	// accepting reports for each state whether a word may end in it.
	accepting [maxStates]bool
}

// longestWord returns the length in bytes of the longest word at the start of s that the grammar
// accepts and that has at most maxWord UTF-16 units. It returns 0 if s does not start with a
// word.
func (g *grammar) longestWord(s string, classes *classTable) int {
	size := 0
	units := 0
	current := start
	for i, r := range s {
		units += utf16.RuneLen(r)
		current = g.next[current][classes.classOf(r)]
		if current == 0 || units > maxWord {
			return size
		}
		if g.accepting[current] {
			size = i + utf8.RuneLen(r)
		}
	}
	return size
}

// pageSize is the number of successive characters whose classes are stored together (in a page) in
// a classTable. Equal pages are stored once.
const pageSize = 256

// classTable maps each character to its class.
type classTable struct {
	page  [(1<<20 + 1<<16) / pageSize]uint16
	pages [][pageSize]class
}

func (t *classTable) classOf(r rune) class { return t.pages[t.page[r/pageSize]][r%pageSize] }

// tables are the parsed embedded files: the classes of characters, and the automata for words
// and for emoji.
type tables struct {
	classes      *classTable
	words, emoji *grammar
}

// loadTables parses the embedded files at the first call and returns the result at every call.
// It panics if a file is invalid.
var loadTables = sync.OnceValue(func() *tables {
	classes, byName := parseClasses(paragraphs(classText)[1:])
	parts := paragraphs(grammarText)[1:]
	for line := range strings.Lines(parts[0]) {
		names := strings.Fields(line)
		union := names[0]
		for _, name := range names[1:] {
			byName[union] = append(byName[union], byName[name]...)
		}
	}
	return &tables{
		classes: classes,
		words:   parseGrammar(parts[1], byName),
		emoji:   parseGrammar(parts[2], byName),
	}
})

func paragraphs(text string) []string { return strings.Split(strings.TrimSpace(text), "\n\n") }

// parseClasses parses paragraphs that each have the name of a class, followed by its characters
// or character ranges in hexadecimal. It returns the class of each character, and each class by
// its name.
func parseClasses(paragraphs []string) (*classTable, map[string][]class) {
	classes := make([]class, 1<<20+1<<16) // by character
	byName := map[string][]class{}
	for i, paragraph := range paragraphs {
		words := strings.Fields(paragraph)
		c := class(i + 1)
		byName[words[0]] = []class{c}
		for _, word := range words[1:] {
			first, last, isRange := strings.Cut(word, "-")
			if !isRange {
				last = first
			}
			for r := parseCharacter(first); r <= parseCharacter(last); r++ {
				classes[r] = c
			}
		}
	}
	return newClassTable(classes), byName
}

func newClassTable(classes []class) *classTable {
	t := &classTable{}
	indices := map[[pageSize]class]uint16{}
	for i := range t.page {
		page := [pageSize]class(classes[i*pageSize:])
		index, ok := indices[page]
		if !ok {
			index = uint16(len(t.pages))
			indices[page] = index
			t.pages = append(t.pages, page)
		}
		t.page[i] = index
	}
	return t
}

func parseCharacter(hex string) uint64 {
	r, err := strconv.ParseUint(hex, 16, 21)
	if err != nil {
		panic(fmt.Sprintf("classes.txt: %v", err))
	}
	return r
}

// parseGrammar parses the text of an automaton that recognises words. Each line has the name of a
// state and its transitions in the form class>state. A point after the name says that a word may
// end in the state. classes maps the name of a class of characters, or of a union of classes, to
// its classes.
func parseGrammar(text string, classes map[string][]class) *grammar {
	g := &grammar{}
	states := map[string]state{}
	stateOf := func(name string) state {
		if states[name] == 0 {
			states[name] = start + state(len(states))
		}
		return states[name]
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		name, isAccepting := strings.CutSuffix(words[0], ".")
		source := stateOf(name)
		g.accepting[source] = isAccepting
		for _, move := range words[1:] {
			className, target, _ := strings.Cut(move, ">")
			if classes[className] == nil {
				panic("grammar.txt: there is no class " + className)
			}
			for _, c := range classes[className] {
				g.next[source][c] = stateOf(target)
			}
		}
	}
	return g
}

// eachWord calls emit with the words and emoji of a text in order, choosing the longest match at
// each position. It skips characters that start no match.
func eachWord(s string, emit func(string)) {
	t := loadTables()
	for s != "" {
		n := max(t.words.longestWord(s, t.classes), t.emoji.longestWord(s, t.classes))
		if n > 0 {
			emit(s[:n])
		} else {
			_, n = utf8.DecodeRuneInString(s)
		}
		s = s[n:]
	}
}
