//go:build !amd64

package minhash

func minima(sig *Signature, xs []uint32) { minimaPortable(sig, xs) }
