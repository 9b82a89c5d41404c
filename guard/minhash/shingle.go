package minhash

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A word is a run of ASCII letters, digits, underscores and bytes above 0x7F.
// Words are compared with bit 0x20 of every byte set, which folds ASCII and
// Latin-1 letters to lower case eight bytes at a time.
const (
	foldCase  = 0x2020202020202020
	wordMul   = 0x9FB21C651E98DF25
	rollBase  = 0x9E3779B97F4A7C15
	shinglMul = 0xbf58476d1ce4e5b9
)

// padding is how far beyond the last byte of a document a word may be read.
const padding = 8

var wordByte = wordBytes()

func wordBytes() (is [256]uint8) {
	for c := range is {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' && c < 0x80
		if letter || c >= '0' && c <= '9' || c == '_' || c >= 0x80 {
			is[c] = 1
		}
	}
	return is
}

var rollOut = rollPower(Words)

func rollPower(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= rollBase
	}
	return p
}

// shingler turns a document into the hashes of its word n-grams with a rolling
// polynomial hash over word hashes.
type shingler struct {
	text []byte
	mask []uint64
	out  []uint32

	ring  [Words]uint64
	at    int
	count int
	roll  uint64
}

// shingles returns one hash for each shingle of doc in order, repeats
// included. The result is valid until the next call.
func (s *shingler) shingles(doc []byte) []uint32 {
	s.text = append(append(s.text[:0], doc...), make([]byte, padding)...)
	s.markWords(len(doc))
	s.out, s.count, s.at, s.roll = s.out[:0], 0, 0, 0
	for start := s.nextBit(0, 0); start < len(doc); {
		end := min(s.nextBit(start, ^uint64(0)), len(doc))
		s.add(wordHash(s.text, start, end))
		start = s.nextBit(end, 0)
	}
	if s.count > 0 && s.count < Words {
		s.out = append(s.out, uint32(mix(s.roll)>>32))
	}
	return s.out
}

// markWords sets one bit of the mask for every byte that belongs to a word.
func (s *shingler) markWords(n int) {
	s.mask = s.mask[:0]
	for i := 0; i < n; i += 64 {
		var m uint64
		for j, c := range s.text[i:min(i+64, n)] {
			m |= uint64(wordByte[c]) << uint(j)
		}
		s.mask = append(s.mask, m)
	}
}

// nextBit returns the position of the first bit at or after from that differs
// from those of skip, or a position beyond the text.
func (s *shingler) nextBit(from int, skip uint64) int {
	for w := from >> 6; w < len(s.mask); w++ {
		m := s.mask[w] ^ skip
		if w == from>>6 {
			m &= ^uint64(0) << uint(from&63)
		}
		if m != 0 {
			return w<<6 + bits.TrailingZeros64(m)
		}
	}
	return len(s.mask) << 6
}

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

// add rolls the window forward by one word and emits its shingle once full.
func (s *shingler) add(word uint64) {
	leaving := s.ring[s.at]
	s.ring[s.at] = word
	if s.at++; s.at == Words {
		s.at = 0
	}
	s.roll = s.roll*rollBase + word
	if s.count++; s.count > Words {
		s.roll -= leaving * rollOut
	}
	if s.count >= Words {
		s.out = append(s.out, uint32((s.roll^s.roll>>29)*shinglMul>>32))
	}
}

// sortedSet sorts xs in place and removes repeats.
func sortedSet(xs []uint32) []uint32 {
	slices.Sort(xs)
	return slices.Compact(xs)
}

// Shingles returns the shingle set of text: 32-bit hashes, sorted, each once.
func Shingles(text string) []uint32 {
	var s shingler
	return sortedSet(s.shingles([]byte(text)))
}

// Jaccard is the exact similarity of two sorted sets, 0 to 1. Two empty sets
// are alike.
func Jaccard(a, b []uint32) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	i, j, both := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			both++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
