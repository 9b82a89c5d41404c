// Package index ranks short documents by BM25 exactly as the subnet's search
// engine does, down to the bits of the 32-bit score: Lucene's formula with
// Anserini's constants and one-byte lengths.
package index

import (
	"math"
	"math/bits"
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

// byteLength is the length that a byte stands for.
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
