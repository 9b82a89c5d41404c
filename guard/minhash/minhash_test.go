package minhash

import (
	"strings"
	"testing"
)

func BenchmarkSign(b *testing.B) {
	doc := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog while 17 men look on and say nothing ", 35))
	s, sig := NewSigner(), Signature{}
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		s.Sign(doc, &sig)
	}
}
