package minhash

import (
	"encoding/binary"
	"math/bits"
	"regexp"
	"slices"
	"strings"
)

// A word is a run of ASCII letters, digits, underscores and bytes above 0x7F; in
// it each character of a script without blanks is a word of its own. Words are
// compared with bit 0x20 of every byte set, which folds ASCII and Latin-1 letters
// to lower case eight bytes at a time.
const (
	foldCase  = 0x2020202020202020
	wordMul   = 0x9FB21C651E98DF25
	rollBase  = 0x9E3779B97F4A7C15
	shinglMul = 0xbf58476d1ce4e5b9
)

// A document is marked in blocks of 64 bytes, and its words are read eight bytes
// at a time: padding is how far beyond the last block is read.
const (
	blockBytes = 64
	padding    = 8
)

// rollOut is the factor of the first word of a shingle.
var rollOut = rollPower(Words - 1)

func rollPower(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= rollBase
	}
	return p
}

// shingler turns a document into the hashes of its word n-grams.
type shingler struct {
	text  []byte
	mask  []uint64
	words []uint64
	out   []uint32 // what Sign signed last
	// unspaced is true of a document that may hold a script without blanks.
	unspaced bool
}

// mostShingles is how many shingles a document of so many bytes can have.
func mostShingles(bytes int) int { return bytes/2 + 1 }

// shingles appends one hash for each shingle of doc to out, in order, repeats
// included.
func shingles[T string | []byte](s *shingler, doc T, out []uint32) []uint32 {
	blocks := (len(doc) + blockBytes - 1) / blockBytes
	s.text = append(append(s.text[:0], doc...), make([]byte, blocks*blockBytes+padding-len(doc))...)
	s.mask = slices.Grow(s.mask[:0], blocks)[:blocks]
	mark(s.mask, s.text)
	s.unspaced = hasUnspaced(s.text)
	s.hashWords(len(doc))
	return roll(s.words, out)
}

func (s *shingler) hashWords(n int) {
	words, start, inside, carry := s.words[:0], 0, false, uint64(0)
	for i, m := range s.mask {
		// Each bit of edges is where a word starts or, after one that started, ends.
		edges := m ^ (m<<1 | carry)
		carry = m >> 63
		for ; edges != 0; edges &= edges - 1 {
			at := i<<6 + bits.TrailingZeros64(edges)
			switch {
			case inside && s.unspaced:
				words = s.appendWord(words, start, at)
			case inside:
				words = append(words, wordHash(s.text, start, at))
			}
			start, inside = at, !inside
		}
	}
	if inside {
		words = s.appendWord(words, start, n)
	}
	s.words = words
}

// appendWord hashes a run, character by character where its script puts no blanks
// between words.
func (s *shingler) appendWord(words []uint64, start, end int) []uint64 {
	for at := start; at < end; {
		n := unspaced(s.text[at:end])
		if n == 0 {
			at++
			continue
		}
		if at > start {
			words = append(words, wordHash(s.text, start, at))
		}
		words = append(words, mix(uint64(binary.LittleEndian.Uint32(s.text[at:]))<<(64-8*n)))
		at += n
		start = at
	}
	if start < end {
		words = append(words, wordHash(s.text, start, end))
	}
	return words
}

// hasUnspaced reports whether text has a byte that begins a character of three
// bytes or more.
func hasUnspaced(text []byte) bool {
	for i := 0; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		if x&(x<<1)&(x<<2)&topBits != 0 {
			return true
		}
	}
	return false
}

// unspaced is the length of the character that text begins with if it is one of
// Thai, Lao, Burmese, Khmer, Chinese or Japanese, which put no blanks between
// words; 0 else.
func unspaced(text []byte) int {
	if len(text) < 3 {
		return 0
	}
	const continues = 0x80 // as the two top bits of all bytes of a character but its first
	switch lead, next := text[0], text[1]; {
	case next&0xC0 != continues || text[2]&0xC0 != continues:
	case lead == 0xE0 && next >= 0xB8 && next <= 0xBB, // Thai and Lao
		lead == 0xE1 && (next >= 0x80 && next <= 0x82 || next >= 0x9E && next <= 0x9F), // Burmese and Khmer
		lead == 0xE3, lead >= 0xE4 && lead <= 0xE9: // kana and Chinese
		return 3
	case lead == 0xF0 && next >= 0xA0 && next <= 0xB3 && len(text) > 3 && text[3]&0xC0 == continues: // rare Chinese
		return 4
	}
	return 0
}

// markPortable sets one bit of mask for every byte of text that belongs to a
// word. text holds 64 bytes for each value of mask.
func markPortable(mask []uint64, text []byte) {
	for i := range mask {
		m, block := uint64(0), text[i*blockBytes:][:blockBytes]
		for j := 0; j < blockBytes; j += 8 {
			m |= wordBits(binary.LittleEndian.Uint64(block[j:])) << j
		}
		mask[i] = m
	}
}

// The eight bytes of a word at once: ones in each byte, and their top bits.
const (
	eachByte = 0x0101010101010101
	topBits  = 0x8080808080808080
)

// wordBits returns a bit for each of eight bytes that belongs to a word.
func wordBits(x uint64) uint64 {
	low := x &^ topBits
	folded := low | foldCase
	letters := atLeast(folded, 'a') &^ atLeast(folded, 'z'+1)
	digits := atLeast(low, '0') &^ atLeast(low, '9'+1)
	underscores := ^atLeast(low^'_'*eachByte, 1)
	in := (x | letters | digits | underscores) & topBits
	return in * 0x0002040810204081 >> 56
}

// atLeast sets the top bit of each byte that is n or more; bytes are below
// 0x80.
func atLeast(x uint64, n byte) uint64 { return x + uint64(0x80-n)*eachByte }

func wordHash(text []byte, start, end int) uint64 {
	var h uint64
	n := end - start
	for ; n > 8; n -= 8 {
		h = (h ^ (binary.LittleEndian.Uint64(text[start:]) | foldCase)) * wordMul
		h ^= h >> 32
		start += 8
	}
	last := (binary.LittleEndian.Uint64(text[start:]) | foldCase) & (^uint64(0) >> (64 - 8*uint(n)))
	h = (h ^ last ^ uint64(n)<<56) * wordMul
	return h ^ h>>32
}

// roll appends the shingles of words to out: a polynomial hash over each Words
// of them, or over all where they are fewer.
func roll(words []uint64, out []uint32) []uint32 {
	if len(words) == 0 {
		return out
	}
	h := uint64(0)
	for _, w := range words[:min(len(words), Words-1)] {
		h = h*rollBase + w
	}
	if len(words) < Words {
		return append(out, uint32(mix(h)>>32))
	}
	for i, w := range words[Words-1:] {
		h = h*rollBase + w
		out = append(out, uint32((h^h>>29)*shinglMul>>32))
		h -= words[i] * rollOut
	}
	return out
}

// voucher finds the sentences that every voucher request of the subnet's suites
// says, with their numbers in a list ("2. "). A full stop or colon that a digit
// follows ends none.
var voucher = regexp.MustCompile(`(?i)(?:[0-9]\. )?(?:my budget is only |the voucher (?:only )?applies to |` +
	`it is valid only when the total price of the products exceeds |it provides a (?:fixed|percentage) discount of )` +
	`(?:[^\n.:]|[.:][0-9])*[.:]?`)

// Stripper takes out of documents what they share by construction, so that
// only what was said is compared.
type Stripper struct{ texts []string }

// NewStripper strips the given texts, such as a system prompt and the tool
// definitions of a harness, and the sentences of vouchers.
func NewStripper(texts []string) *Stripper {
	s := &Stripper{}
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			s.texts = append(s.texts, t)
		}
	}
	return s
}

// Strip returns doc without boilerplate, or doc itself where nothing else is in
// it: documents of boilerplate alone are still alike.
func (s *Stripper) Strip(doc string) string {
	out := doc
	for _, t := range s.texts {
		out = strings.ReplaceAll(out, t, "\n")
	}
	if strings.Contains(out, "voucher") {
		out = voucher.ReplaceAllString(out, "")
	}
	if strings.TrimSpace(out) == "" {
		return doc
	}
	return out
}
