// Package minhash finds near-duplicate documents with 128-value MinHash signatures
// over 5-grams of words, or of characters in scripts without blanks, banding
// (locality-sensitive hashing) for candidate pairs, and exact Jaccard similarity to
// decide. Memory grows linearly with the documents.
package minhash

import "sync"

// Version is the version of everything that a signature depends on: the
// normalisation, the shingle length, the permutations and their seeds. Signatures
// of different versions are not comparable.
const Version = 2

// K is the number of permutations, and of values in a signature. The standard
// error of an estimate from it is sqrt(J(1-J)/K), at most 0.045.
const K = 128

// Words is the length of a shingle in words, or in characters of a script without
// blanks. A document with fewer words is one shingle.
const Words = 5

// Signature is the smallest value of each permutation over a document's
// shingles. In the signature of a document without words every value is the
// maximum.
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

// blockShingles is the number of shingles that are processed at a time: 4,096 need 16 KiB, which
// stay in the first-level cache of the processor for all permutations.
const blockShingles = 4096

// signShingles computes the signature of a document from xs, the hashes of its shingles, and stores
// it in sig.
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

// minimaPortable computes K permutations of each value of xs and sets each value of sig to the
// smallest result of its permutation, if that is smaller. Permutation i is x -> multiplier[i]*x +
// offset[i] modulo 2^32.
func minimaPortable(sig *Signature, xs []uint32) {
	for i := range sig {
		minimum := sig[i]
		a := permutations.multiplier[i]
		b := permutations.offset[i]
		for _, x := range xs {
			minimum = min(minimum, a*x+b)
		}
		sig[i] = minimum
	}
}

// affine holds the constants of K permutations of 32-bit numbers, x -> multiplier*x + offset.
type affine struct{ multiplier, offset [K]uint32 }

var permutations = newPermutations()

// newPermutations computes the constants of the K permutations from the index of each. A change of
// the constants needs another Version. Odd multipliers make each map a bijection.
func newPermutations() *affine {
	p := &affine{}
	for i := range K {
		p.multiplier[i] = uint32(mix(uint64(i)+1)) | 1
		p.offset[i] = uint32(mix(uint64(i) + 1000))
	}
	return p
}

// mix returns a hash of h in which each bit depends on all bits of h: the finalizer of MurmurHash3
// (Appleby, public domain).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// sortByKey sorts records by key and returns them, in the memory of records or of buffer. Both must
// have the same length. The sort is stable.
func sortByKey(records, buffer []record) []record {
	// Three passes over 33 bits sort nearly all records; an insertion sort does the
	// others.
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

// countingPass copies records to buffer, sorted by the eleven bits of the key from bit shift on. It
// is one pass of a radix sort.
func countingPass(records, buffer []record, shift uint) {
	const mask = 1<<11 - 1
	var starts [1 << 11]int
	for i := range records {
		starts[records[i].key>>shift&mask]++
	}
	sum := 0
	for i, n := range starts {
		starts[i] = sum
		sum += n
	}
	for i := range records {
		digit := records[i].key >> shift & mask
		buffer[starts[digit]] = records[i]
		starts[digit]++
	}
}
