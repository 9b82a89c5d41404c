package minhash

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// A word is a run of ASCII letters, digits, underscores and bytes above 0x7F; each
// character of a script without blanks is a word too. Words are hashed with bit 0x20
// of every byte set, which folds ASCII and Latin-1 letters to lower case eight bytes
// at a time.
const (
	foldCase  = 0x2020202020202020
	wordMul   = 0x9FB21C651E98DF25
	rollBase  = 0x9E3779B97F4A7C15
	shinglMul = 0xbf58476d1ce4e5b9
)

// blockBytes is the number of bytes of a document that mark processes at a time, padding the number
// of zero bytes after the last block: words are read eight bytes at a time.
const (
	blockBytes = 64
	padding    = 8
)

// rollOut is the factor that the first word of a shingle has in the rolling hash. With it the word
// is subtracted to get the next shingle.
var rollOut = rollPower(Words - 1)

// rollPower returns rollBase to the power of n.
func rollPower(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= rollBase
	}
	return p
}

// shingler is reusable memory for computing the shingles of a document, the hashes of each Words
// consecutive words.
type shingler struct {
	text  []byte   // the document, padded
	mask  []uint64 // one bit for each byte of text, set if the byte belongs to a word
	words []uint64 // hashes of the words
	out   []uint32 // shingles of the last call of Sign
	// unspaced reports that the document may have a script without blanks between words.
	unspaced bool
}

// maxShingles returns the maximum number of shingles that a document of n bytes can have.
func maxShingles(n int) int { return n/2 + 1 }

// shingles appends the shingles of doc to out: the hash of each Words consecutive words, in order
// and with duplicates. s is scratch memory.
func shingles[T string | []byte](
	s *shingler,
	doc T,
	out []uint32,
) []uint32 {
	blocks := (len(doc) + blockBytes - 1) / blockBytes
	s.text = append(append(s.text[:0], doc...), make([]byte, blocks*blockBytes+padding-len(doc))...)
	s.mask = slices.Grow(s.mask[:0], blocks)[:blocks]
	mark(s.mask, s.text)
	s.unspaced = hasUnspaced(s.text)
	s.hashWords(len(doc))
	return roll(s.words, out)
}

// hashWords sets s.words to the hashes of the document's words. n is the length of the document in
// bytes.
func (s *shingler) hashWords(n int) {
	words := s.words[:0]
	start := 0
	inside := false
	carry := uint64(0)
	for i, m := range s.mask {
		// Each bit of edges is the start of a word or, within a word, its end.
		edges := m ^ (m<<1 | carry)
		carry = m >> 63
		for ; edges != 0; edges &= edges - 1 {
			pos := i<<6 + bits.TrailingZeros64(edges)
			switch {
			case inside && s.unspaced:
				words = s.appendWord(words, start, pos)
			case inside:
				words = append(words, wordHash(s.text, start, pos))
			}
			start = pos
			inside = !inside
		}
	}
	if inside {
		words = s.appendWord(words, start, n)
	}
	s.words = words
}

// appendWord appends the hash of the word from start to end to words. Characters of a script
// without blanks, such as Chinese, are hashed one by one, as words of their own.
func (s *shingler) appendWord(words []uint64, start, end int) []uint64 {
	for pos := start; pos < end; {
		n := unspacedLen(s.text[pos:end])
		if n == 0 {
			pos++
			continue
		}
		if pos > start {
			words = append(words, wordHash(s.text, start, pos))
		}
		words = append(words, mix(uint64(binary.LittleEndian.Uint32(s.text[pos:]))<<(64-8*n)))
		pos += n
		start = pos
	}
	if start < end {
		words = append(words, wordHash(s.text, start, end))
	}
	return words
}

// hasUnspaced reports whether text has a UTF-8 character of three bytes or more. Without such a
// character it has no script without blanks.
func hasUnspaced(text []byte) bool {
	for i := 0; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		if x&(x<<1)&(x<<2)&topBits != 0 {
			return true
		}
	}
	return false
}

// unspacedLen returns the length in bytes of the first character of text if it is Thai, Lao,
// Burmese, Khmer, Chinese or Japanese, which have no blanks between words. For any other character
// it returns 0.
func unspacedLen(text []byte) int {
	if len(text) < 3 || !isContinuation(text[1]) || !isContinuation(text[2]) {
		return 0
	}
	lead := text[0]
	next := text[1]
	switch {
	case lead == 0xE0 && next >= 0xB8 && next <= 0xBB: // Thai and Lao
		return 3
	case lead == 0xE1 && next >= 0x80 && next <= 0x82: // Burmese
		return 3
	case lead == 0xE1 && next >= 0x9E && next <= 0x9F: // Khmer
		return 3
	case lead >= 0xE3 && lead <= 0xE9: // kana and Chinese
		return 3
	}
	isRareHan := lead == 0xF0 && next >= 0xA0 && next <= 0xB3
	if isRareHan && len(text) > 3 && isContinuation(text[3]) {
		return 4
	}
	return 0
}

// isContinuation reports whether b is the second or a later byte of a UTF-8 character.
func isContinuation(b byte) bool { return b&0xC0 == 0x80 }

// markPortable sets the bit of mask for each byte of text that belongs to a word, and clears all
// others. text must have 64 bytes for each element of mask.
func markPortable(mask []uint64, text []byte) {
	for i := range mask {
		m := uint64(0)
		block := text[i*blockBytes:][:blockBytes]
		for j := 0; j < blockBytes; j += 8 {
			m |= wordBits(binary.LittleEndian.Uint64(block[j:])) << j
		}
		mask[i] = m
	}
}

// Constants to compute with eight bytes at once: a 1 in each byte, and the top bit of each byte.
const (
	eachByte = 0x0101010101010101
	topBits  = 0x8080808080808080
)

// wordBits returns a mask of eight bits for the eight bytes of x: a bit is set if its byte belongs
// to a word.
func wordBits(x uint64) uint64 {
	low := x &^ topBits
	folded := low | foldCase
	letters := atLeast(folded, 'a') &^ atLeast(folded, 'z'+1)
	digits := atLeast(low, '0') &^ atLeast(low, '9'+1)
	underscores := ^atLeast(low^'_'*eachByte, 1)
	word := (x | letters | digits | underscores) & topBits
	return word * 0x0002040810204081 >> 56
}

// atLeast compares the eight bytes of x with n at once: the top bit of each byte of the result is
// set if the byte of x is at least n. All bytes of x must be below 0x80.
func atLeast(x uint64, n byte) uint64 { return x + uint64(0x80-n)*eachByte }

// wordHash returns the hash of the word text[start:end]. It ignores the case of ASCII letters.
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

// roll appends the shingles of a document, whose words have the hashes words, to out: a rolling
// hash of each Words consecutive words. A document with fewer words has one shingle of all its
// words, and one without words has none.
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

// Stripper removes boilerplate from documents, so that only the dialogue is
// compared.
type Stripper struct {
	texts  []string
	remove func(doc string) string
}

// NewStripper returns a stripper of texts, such as a system prompt and the tool
// definitions of a harness, and of what remove leaves out of a document.
func NewStripper(texts []string, remove func(doc string) string) *Stripper {
	s := &Stripper{remove: remove}
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			s.texts = append(s.texts, t)
		}
	}
	return s
}

// Strip returns doc without boilerplate, or doc itself if it has nothing else:
// documents that are only boilerplate remain duplicates.
func (s *Stripper) Strip(doc string) string {
	out := doc
	for _, t := range s.texts {
		out = strings.ReplaceAll(out, t, "\n")
	}
	out = s.remove(out)
	if strings.TrimSpace(out) == "" {
		return doc
	}
	return out
}
