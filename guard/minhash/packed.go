package minhash

import (
	"encoding/binary"
	"math/bits"
)

// Packed is a signature with eight bits of each value: an eighth of the memory
// of Signature, and all that banding and estimating need (b-bit minwise
// hashing, Li and König 2010).
type Packed [K]byte

// Pack keeps the low eight bits of each value.
func (s *Signature) Pack() (p Packed) {
	for i, v := range s {
		p[i] = byte(v)
	}
	return p
}

// Similarity estimates the Jaccard similarity, 0 to 1, with chance agreement of
// eight bits taken out. Its standard error is that of a signature, hardly more.
func (p *Packed) Similarity(o *Packed) float64 {
	const chance = 1.0 / 256
	share := float64(p.agree(o)) / K
	return max(0, (share-chance)/(1-chance))
}

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

func (p *Packed) band(b, rows int) uint64 {
	h := uint64(b)
	for _, v := range p[b*rows : (b+1)*rows] {
		h = h<<8 | uint64(v) + h>>56*0x9E3779B97F4A7C15
	}
	return mix(h)
}

func (p *Packed) whole() uint64 {
	h := uint64(0)
	for i := 0; i < K; i += 8 {
		h = mix(h ^ binary.LittleEndian.Uint64(p[i:]))
	}
	return h
}

// table is a set of shingles in open addressing. Shingles are hashes already,
// so that their top bits are their place. It is emptied by a new stamp and not
// by clearing.
type table struct {
	// slots hold a shingle below the stamp it was put in with.
	slots []uint64
	stamp uint64
	shift int
}

// One step of the stamp, and where it would reach the sign bit.
const (
	stampStep = 1 << 32
	stampEnd  = 1 << 63
)

// fill makes t the set of xs and returns xs with each shingle once, in place and
// in order.
func (t *table) fill(xs []uint32) []uint32 {
	t.empty(len(xs))
	once := xs[:0]
	for _, x := range xs {
		if at, held := t.find(x); !held {
			t.slots[at] = t.stamp | uint64(x)
			once = append(once, x)
		}
	}
	return once
}

// empty makes room for n shingles at four slots each: the fewer share a place,
// the fewer searches the processor cannot foresee.
func (t *table) empty(n int) {
	if t.stamp += stampStep; 4*n > len(t.slots) || t.stamp == stampEnd {
		width := max(bits.Len(uint(4*n)), 10)
		t.slots, t.shift, t.stamp = make([]uint64, 1<<width), 32-width, stampStep
	}
}

func (t *table) find(x uint32) (at uint32, held bool) {
	for at = x >> t.shift; t.slots[at] >= t.stamp; at = (at + 1) & uint32(len(t.slots)-1) {
		if uint32(t.slots[at]) == x {
			return at, true
		}
	}
	return at, false
}

// count returns how many of xs, each of which is given once, t holds.
func (t *table) count(xs []uint32) (n int) {
	for _, x := range xs {
		// Hit or miss cannot be foreseen, so that neither is a branch: differs is 0
		// where x is in its place, and above 32 bits where nothing is.
		differs := t.slots[x>>t.shift] ^ (t.stamp | uint64(x))
		n += int((differs - 1) >> 63)
		if differs-1 < stampStep-1 {
			if _, held := t.find(x); held {
				n++
			}
		}
	}
	return n
}
