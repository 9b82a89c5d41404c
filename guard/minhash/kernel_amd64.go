package minhash

import "golang.org/x/sys/cpu"

// minimaAVX2 does the same as minimaPortable with AVX2 instructions, for 32 permutations at a time.
// k, the number of permutations, must be a multiple of 32; n is the number of values at xs.
//
//go:noescape
func minimaAVX2(sig, multiplier, offset *uint32, k int, xs *uint32, n int)

// markAVX2 does the same as markPortable with AVX2 instructions, for 64 bytes at a time.
//
//go:noescape
func markAVX2(mask *uint64, text *byte, blocks int)

var minima, mark = selectKernels()

// selectKernels returns the fastest implementations that the processor supports: first of minima,
// which computes signatures, then of mark, which finds the bytes that belong to words.
func selectKernels() (func(*Signature, []uint32), func([]uint64, []byte)) {
	if !cpu.X86.HasAVX2 {
		return minimaPortable, markPortable
	}
	return minimaVector, markVector
}

func minimaVector(sig *Signature, xs []uint32) {
	if len(xs) > 0 {
		minimaAVX2(
			&sig[0],
			&permutations.multiplier[0],
			&permutations.offset[0],
			K,
			&xs[0],
			len(xs),
		)
	}
}

func markVector(mask []uint64, text []byte) {
	if len(mask) > 0 {
		_ = text[64*len(mask)-1]
		markAVX2(&mask[0], &text[0], len(mask))
	}
}
