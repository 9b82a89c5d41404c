// Package index ranks short documents by BM25 exactly as the subnet's search
// engine does, down to the bits of the 32-bit score: Lucene's formula with
// Anserini's constants and one-byte lengths.
package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// k1 and b are Anserini's defaults.
const (
	k1 = float32(0.9)
	b  = float32(0.4)
)

// exactLengths is how many of the smallest lengths have a byte of their own
// before the mantissa begins (Lucene, SmallFloat.intToByte4).
const exactLengths = 24

// lengthByte codes a document's length: exact up to 39, above with a mantissa
// of three bits, rounded down.
func lengthByte(n uint32) byte {
	if n < exactLengths {
		return byte(n)
	}
	e := n - exactLengths
	if e < 8 {
		return byte(exactLengths + e)
	}
	shift := bits.Len32(e) - 4
	return byte(exactLengths + (e>>shift)&7 + uint32(shift+1)<<3)
}

func byteLength(c byte) uint32 {
	if c < exactLengths+8 {
		return uint32(c)
	}
	i := uint32(c) - exactLengths
	return exactLengths + (i&7|8)<<(i>>3-1)
}

// norms is 1/(k1*((1-b)+b*len/avgdl)) for every length byte, evaluated in
// that order in 32 bits, for so many documents that hold a term. The conversions keep a compiler from fusing the
// product with the sum.
func norms(documents, totalTerms uint64) (t [256]float32) {
	average := float32(float64(totalTerms) / float64(documents))
	for c := range t {
		share := float32(b*float32(byteLength(byte(c)))) / average
		t[c] = 1 / float32(k1*((1-b)+share))
	}
	return t
}

// idf is ln(1+(N-n+0.5)/(n+0.5)) for n of N documents that hold a term.
func idf(n int, documents uint64) float32 {
	return float32(math.Log(1 + (float64(documents)-float64(n)+0.5)/(float64(n)+0.5)))
}

// best keeps the best hits: twice as many as are wanted at most, sorted whenever
// there are so many.
type best struct {
	limit int
	hits  []Hit
	// worst is the lowest score of the best once there are enough: what has none higher
	// ranks behind it, since it comes later. No score is below 0.
	worst float32
}

// ranking orders by score, the highest first, then by number: of equal scores the
// lower number is the better one.
func ranking(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document))
}

func (t *best) push(h Hit) {
	if h.Score <= t.worst {
		return
	}
	if t.hits = append(t.hits, h); len(t.hits) >= 2*t.limit {
		t.cut()
		t.worst = t.hits[t.limit-1].Score
	}
}

func (t *best) cut() {
	slices.SortFunc(t.hits, ranking)
	t.hits = t.hits[:min(t.limit, len(t.hits))]
}
