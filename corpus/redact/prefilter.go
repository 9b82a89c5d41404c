package redact

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/text"
)

// prefilter finds every place of a set of words in one pass over a text,
// whatever their case. Most places of ordinary text hold none of them, so each
// costs one look into a table of 32 KiB: the hash of three bytes says
// whether some word has them. Automata that follow all words at once must wait
// for each step before they take the next.
type prefilter struct {
	bits [table / 64]uint64
	// chain gives for each hash the position of its words in chains.
	chain  [table]uint16
	chains [][]needle
	// single are the words of one byte.
	single []needle
}

type needle struct {
	// word is in lower case; its three rarest bytes are at, or begin it.
	word string
	at   int
	// rule is the position of a rule, or one of the notes.
	rule int
}

// The notes are what a pass looks for beside the words of rules.
const (
	noteNumber = -1 - iota
	noteEscape
	notePlaceholder
	noteDisguise
)

const table = 1 << 18

func newPrefilter(rules []rule) *prefilter {
	p := &prefilter{chains: make([][]needle, 1)}
	for i := range rules {
		for _, word := range rules[i].keywords {
			p.add(word, i)
		}
	}
	for a := '0'; a <= '9'; a++ {
		for b := '0'; b <= '9'; b++ {
			for _, c := range ".- " {
				p.add(string([]rune{a, c, b}), noteNumber)
			}
		}
	}
	for c := '2'; c <= '7'; c++ {
		p.add(`\u00`+string(c), noteEscape) // ASCII, as in \u0041
	}
	p.add(`\/`, noteEscape) // an address as https:\/\/
	p.add(`:\\`, noteEscape)
	p.add(`encoded\`, noteEscape) // the rule's word ends in a quote
	p.add(strings.ToLower(opening), notePlaceholder)
	p.addDisguises()
	return p
}

// addDisguises looks for what may hide a part of a word: the invisible
// characters, by their first three bytes and by their escapes, and what begins
// a character in addresses and in markup.
func (p *prefilter) addDisguises() {
	p.add("%", noteDisguise)
	p.add("&", noteDisguise)
	known := map[string]bool{}
	text.Ignorables(func(r rune) {
		first := string(r)[:min(3, utf8.RuneLen(r))]
		if known[first] {
			return
		}
		known[first] = true
		p.add(first, noteDisguise)
		units := utf16.AppendRune(nil, r)
		p.add(fmt.Sprintf(`\u%04x`, units[0]), noteEscape)
	})
}

// gramHash returns the table index of the last three bytes of a gram (Fibonacci hashing);
// the multiplier drops the bytes before them.
func gramHash(gram uint32) uint32 { return gram * 0x9E377900 >> 14 }

// add adds a word. A word of two bytes is added with every third byte.
func (p *prefilter) add(word string, rule int) {
	n := needle{word: word, rule: rule}
	switch len(word) {
	case 1:
		p.single = append(p.single, n)
	case 2:
		for c := range 256 {
			p.enter(word+string([]byte{byte(c)}), n)
		}
	default:
		n.at = rarest(word)
		p.enter(word[n.at:n.at+3], n)
	}
}

func (p *prefilter) enter(gram string, n needle) {
	h := gramHash(uint32(gram[0]|0x20)<<16 | uint32(gram[1]|0x20)<<8 | uint32(gram[2]|0x20))
	p.bits[h/64] |= 1 << (h % 64)
	if p.chain[h] == 0 {
		p.chain[h] = uint16(len(p.chains))
		p.chains = append(p.chains, nil)
	}
	if c := &p.chains[p.chain[h]]; !slices.Contains(*c, n) {
		*c = append(*c, n)
	}
}

// common orders letters by how often English has them, the commonest last;
// what is no letter is rarer than all.
const common = "zqxjkvbpygfwmucldrhsnioate"

// rarest returns the index of the three bytes of a word that are rarest in text.
func rarest(word string) int {
	best := 3*len(common) + 1
	index := 0
	for i := range len(word) - 2 {
		sum := 0
		for _, c := range []byte(word[i : i+3]) {
			sum += strings.IndexByte(common, c) + 1
		}
		if sum < best {
			best = sum
			index = i
		}
	}
	return index
}

// pass calls see for every place of every word: those of one byte first, the
// others by where they end.
func (p *prefilter) pass(text string, see func(n *needle, start int)) {
	for i := range p.single {
		n := &p.single[i]
		for index := 0; ; index++ {
			next := strings.IndexByte(text[index:], n.word[0])
			if next < 0 {
				break
			}
			index += next
			see(n, index)
		}
	}
	gram := uint32(0)
	for i := range len(text) {
		gram = gram<<8 | uint32(text[i]|0x20)
		if h := gramHash(gram); p.bits[h/64]>>(h%64)&1 != 0 {
			p.confirm(text, i-2, h, see)
		}
	}
}

// confirm compares the words that have three bytes with the hash at a place.
func (p *prefilter) confirm(
	text string,
	index int,
	h uint32,
	see func(n *needle, start int),
) {
	chain := p.chains[p.chain[h]]
	for i := range chain {
		n := &chain[i]
		if start := index - n.at; start >= 0 && start+len(n.word) <= len(text) && strings.EqualFold(text[start:start+len(n.word)], n.word) {
			see(n, start)
		}
	}
}
