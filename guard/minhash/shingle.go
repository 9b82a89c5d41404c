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

// padding is how far beyond the last byte of a document is read.
const padding = 8

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
	start, inside, carry := 0, false, uint64(0)
	for i, m := range s.mask {
		// Each bit of edges is where a word starts or, after one that started, ends.
		edges := m ^ (m<<1 | carry)
		carry = m >> 63
		for ; edges != 0; edges &= edges - 1 {
			at := i<<6 + bits.TrailingZeros64(edges)
			if inside {
				s.add(wordHash(s.text, start, at))
			}
			start, inside = at, !inside
		}
	}
	if inside {
		s.add(wordHash(s.text, start, len(doc)))
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
		for j := i; j < min(i+64, n); j += 8 {
			m |= wordBits(binary.LittleEndian.Uint64(s.text[j:])) << uint(j-i)
		}
		if rest := n - i; rest < 64 {
			m &= 1<<uint(rest) - 1
		}
		s.mask = append(s.mask, m)
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
	sortNumbers(xs, nil)
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
		// Without branches, which the processor could not foresee: the sign bits of
		// d-1 and -d-1 say whether a[i] <= b[j] and a[i] >= b[j].
		d := int64(a[i]) - int64(b[j])
		left, right := int(uint64(d-1)>>63), int(uint64(-d-1)>>63)
		both += left & right
		i += left
		j += right
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
