package minhash

import "golang.org/x/sys/cpu"

// minimaAVX2 is minimaPortable for 32 permutations at a time. k must be a
// multiple of 32.
//
//go:noescape
func minimaAVX2(sig, multiplier, offset *uint32, k int, xs *uint32, n int)

var minima = fastestMinima()

func fastestMinima() func(*Signature, []uint32) {
	if !cpu.X86.HasAVX2 {
		return minimaPortable
	}
	return minimaVector
}

func minimaVector(sig *Signature, xs []uint32) {
	if len(xs) > 0 {
		minimaAVX2(&sig[0], &permutations.multiplier[0], &permutations.offset[0], K, &xs[0], len(xs))
	}
}
