package redact

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/text"
)

// prefilter finds all occurrences of the rules' keywords in one pass over a text, regardless of
// case. Each keyword is indexed by a hash of three of its bytes. At most positions of ordinary
// text no keyword has the hash of the three bytes there, so that one lookup in a table of 32 KiB
// rejects the position. An automaton that matches all keywords at once would be slower, since
// each of its steps depends on the one before.
type prefilter struct {
	bits [table / 64]uint64
	// chain maps each hash to an index in chains, the list of keywords whose three bytes have it.
	chain  [table]uint16
	chains [][]needle
	// single are the keywords of one byte, which have no three bytes to hash.
	single []needle
}

// needle is a keyword of a redaction rule for which prefilter searches texts, with the rule's
// index.
type needle struct {
	// word is in lower case. Its three rarest bytes, by which it is found, begin at index at.
	word string
	at   int
	// rule is the index of the rule that has this keyword, or one of the negative note constants.
	rule int
}

// The notes are negative numbers, used instead of the index of a rule, for other words that a
// pass searches for: parts of numbers, escapes, placeholders and disguises.
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

// addDisguises adds search words for encodings that may hide a part of a keyword: the percent sign
// of URLs, the ampersand of HTML entities, and invisible characters, which are found by their first
// three bytes or by their JSON escapes.
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

// gramHash returns the table index for three bytes, given as the low 24 bits of gram. It is a
// Fibonacci hash whose multiplier discards the high byte.
func gramHash(gram uint32) uint32 { return gram * 0x9E377900 >> 14 }

// add adds a search word to the index. rule is the index of the redaction rule whose keyword it is,
// or a negative note constant for a word of another kind, such as an escape. A word of two bytes is
// added with each of the 256 possible third bytes.
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

// enter adds the keyword n of a redaction rule to the search index. gram is the three bytes of the
// keyword by which it is found, with letters in lower case.
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

// common are the letters from the rarest in English text to the most frequent. All other bytes
// count as rarer than any letter.
const common = "zqxjkvbpygfwmucldrhsnioate"

// rarest returns the index of those three consecutive bytes of a word that are rarest in English
// text. Few other positions of a text then have their hash.
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

// pass reads a text once and calls see for each occurrence of a keyword in it, with the index where
// the occurrence starts. Keywords of one byte come first. The others follow in the order in which
// they occur.
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

// confirm calls see for each keyword that occurs in text at index, where three bytes with the hash
// h were found. Different bytes may have the same hash, so the complete keyword is compared.
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
