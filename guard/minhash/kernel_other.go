//go:build !amd64

package minhash

func minima(sig *Signature, xs []uint32) { minimaPortable(sig, xs) }

func mark(mask []uint64, text []byte) { markPortable(mask, text) }
