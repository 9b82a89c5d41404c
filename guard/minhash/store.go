package minhash

import (
	"encoding/binary"
	"math/bits"
)

// Packed is a signature with eight bits of each value: a quarter of the memory of
// Signature, and enough for banding and estimates (b-bit minwise hashing, Li and
// König 2010).
type Packed [K]byte

// Pack returns the low eight bits of each value.
func (s *Signature) Pack() (p Packed) {
	for i, v := range s {
		p[i] = byte(v)
	}
	return p
}

// Similarity returns an estimate of the Jaccard similarity, 0 to 1, corrected for
// chance agreement of eight bits. Its standard error is hardly larger than that of
// a Signature.
func (p *Packed) Similarity(o *Packed) float64 {
	const chance = 1.0 / 256
	share := float64(float64(p.agree(o)) / K)
	return max(0, (share-chance)/(1-chance))
}

// agree returns how many of the K values of two signatures are equal.
func (p *Packed) agree(o *Packed) int {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	n := 0
	for i := 0; i < K; i += 8 {
		x := binary.LittleEndian.Uint64(p[i:]) ^ binary.LittleEndian.Uint64(o[i:])
		zero := ^((x&low + low) | x | low) & high
		n += bits.OnesCount64(zero)
	}
	return n
}

// band returns a hash of the values in band b, where a band is rows consecutive values.
func (p *Packed) band(b, rows int) uint64 {
	h := uint64(b)
	for _, v := range p[b*rows : (b+1)*rows] {
		h = h<<8 | uint64(v) + h>>56*0x9E3779B97F4A7C15
	}
	return mix(h)
}

// hash returns a hash of all values of the signature. Equal signatures have equal hashes.
func (p *Packed) hash() uint64 {
	h := uint64(0)
	for i := 0; i < K; i += 8 {
		h = mix(h ^ binary.LittleEndian.Uint64(p[i:]))
	}
	return h
}

// table is a hash set of shingles with open addressing. Shingles are hashes already, so the top
// bits of a shingle select its slot. Each content of the set has a stamp of its own, so that a new
// one empties the set without writing to its slots.
type table struct {
	// slots hold a shingle in the low 32 bits and the stamp of its insertion in the high bits. A
	// slot with an older stamp is empty.
	slots []uint64
	stamp uint64
	shift int
}

// stampStep is the difference between two successive stamps of a table. At stampEnd, which would
// set the top bit of a slot, the stamps start again.
const (
	stampStep = 1 << 32
	stampEnd  = 1 << 63
)

// fill replaces the content of t by the shingles xs. It returns xs without duplicates, in the same
// order and in the memory of xs.
func (t *table) fill(xs []uint32) []uint32 {
	t.reset(len(xs))
	unique := xs[:0]
	for _, x := range xs {
		if i, ok := t.find(x); !ok {
			t.slots[i] = t.stamp | uint64(x)
			unique = append(unique, x)
		}
	}
	return unique
}

// reset empties t and makes room for n shingles, with four slots for each: with fewer collisions
// the processor mispredicts fewer branches.
func (t *table) reset(n int) {
	t.stamp += stampStep
	if 4*n > len(t.slots) || t.stamp == stampEnd {
		width := max(bits.Len(uint(4*n)), 10)
		t.slots = make([]uint64, 1<<width)
		t.shift = 32 - width
		t.stamp = stampStep
	}
}

// find returns the slot of x in the set. If x is not in the set, ok is false and slot is the empty
// slot to insert it into.
func (t *table) find(x uint32) (slot uint32, ok bool) {
	for slot = x >> t.shift; t.slots[slot] >= t.stamp; slot = (slot + 1) & uint32(len(t.slots)-1) {
		if uint32(t.slots[slot]) == x {
			return slot, true
		}
	}
	return slot, false
}

// count returns how many of the shingles xs are in t. xs must have no duplicates.
func (t *table) count(xs []uint32) (n int) {
	for _, x := range xs {
		// Hits and misses are unpredictable, so that neither is a branch: differs is 0
		// if x is in its first slot, and above 32 bits if the slot is empty.
		differs := t.slots[x>>t.shift] ^ (t.stamp | uint64(x))
		n += int((differs - 1) >> 63)
		if differs-1 < stampStep-1 {
			if _, ok := t.find(x); ok {
				n++
			}
		}
	}
	return n
}
