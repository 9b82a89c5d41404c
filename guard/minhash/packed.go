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
