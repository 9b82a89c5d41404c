// Package minhash finds near-duplicate documents: frozen 128-value MinHash
// signatures over 5-grams of words, or of characters where words are not parted, banded search for pairs that may be alike, and
// exact Jaccard similarity to decide. Memory grows linearly with the documents.
package minhash

import "sync"

// Version names everything that a signature depends on: the normalisation, the
// shingle length, the permutations and their seeds. Signatures of different
// versions cannot be compared.
const Version = 2

// K is the number of permutations, and of values in a signature. The standard
// error of an estimate from it is sqrt(J(1-J)/K), at most 0.045.
const K = 128

// Words is the length of a shingle in words, or in characters of a script that
// parts no words. A document with fewer words is
// one shingle.
const Words = 5

// Signature is the smallest value of each permutation over a document's
// shingles. A document without a word has the zero-information signature in
// which every value is the largest one.
type Signature [K]uint32

// Sign returns the signature of text.
func Sign[T string | []byte](text T) (sig Signature) {
	s := shinglers.Get().(*shingler)
	defer shinglers.Put(s)
	s.out = shingles(s, text, s.out[:0])
	signShingles(s.out, &sig)
	return sig
}

var shinglers = sync.Pool{New: func() any { return &shingler{} }}

// blockShingles is how many shingles are signed at a time: 16 KiB, so that they
// stay in the first-level cache while every permutation passes over them.
const blockShingles = 4096

func signShingles(xs []uint32, sig *Signature) {
	for i := range sig {
		sig[i] = ^uint32(0)
	}
	for len(xs) > 0 {
		n := min(len(xs), blockShingles)
		minima(sig, xs[:n])
		xs = xs[n:]
	}
}

// minimaPortable lowers each value of sig to the least of its permutation over
// xs. Permutation i is x -> multiplier[i]*x + offset[i] modulo 2^32.
func minimaPortable(sig *Signature, xs []uint32) {
	for i := range sig {
		least, a, b := sig[i], permutations.multiplier[i], permutations.offset[i]
		for _, x := range xs {
			least = min(least, a*x+b)
		}
		sig[i] = least
	}
}

type affine struct{ multiplier, offset [K]uint32 }

var permutations = newPermutations()

// newPermutations derives the constants from their index alone. They are part
// of Version: odd multipliers make each map a bijection.
func newPermutations() *affine {
	p := &affine{}
	for i := range K {
		p.multiplier[i] = uint32(mix(uint64(i)+1)) | 1
		p.offset[i] = uint32(mix(uint64(i) + 1000))
	}
	return p
}

// mix is the finalizer of MurmurHash3 (Appleby, public domain).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// sortByKey sorts records by key and returns them in one of the two slices,
// which have equal length. Records of equal key are in the order of documents, as
// they are on entry.
func sortByKey(records, buffer []record) []record {
	// Three passes over 33 bits put nearly all in place; the rest is one pass of
	// insertion.
	for _, shift := range []uint{31, 42, 53} {
		countingPass(records, buffer, shift)
		records, buffer = buffer, records
	}
	for i := 1; i < len(records); i++ {
		for j := i; j > 0 && records[j].key < records[j-1].key; j-- {
			records[j], records[j-1] = records[j-1], records[j]
		}
	}
	return records
}

// countingPass moves records to buffer in the order of eleven bits of the key.
func countingPass(records, buffer []record, shift uint) {
	const mask = 1<<11 - 1
	var starts [1 << 11]int
	for i := range records {
		starts[records[i].key>>shift&mask]++
	}
	sum := 0
	for i, n := range starts {
		starts[i], sum = sum, sum+n
	}
	for i := range records {
		digit := records[i].key >> shift & mask
		buffer[starts[digit]] = records[i]
		starts[digit]++
	}
}
