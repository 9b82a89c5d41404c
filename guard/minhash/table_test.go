package minhash

import (
	"encoding/binary"
	"slices"
	"testing"
)

func sortedSet(xs []uint32) []uint32 { return slices.Compact(slices.Sorted(slices.Values(xs))) }

// plainJaccard is the similarity of two sorted sets as the textbook has it.
func plainJaccard(a, b []uint32) float64 {
	i := 0
	j := 0
	both := 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	if len(a)+len(b) == 0 {
		return 1
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// FuzzTableEqualsPlain compares sets with the table, many after one another in
// the same one, as clustering does.
func FuzzTableEqualsPlain(f *testing.F) {
	f.Add([]byte("a few shingles, and some of them again a few shingles"), uint16(3))
	f.Add(make([]byte, 64), uint16(1))
	f.Add([]byte{}, uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		var xs []uint32
		for ; len(data) >= 4; data = data[4:] {
			// Few places in the table, so that many shingles share one.
			xs = append(xs, binary.LittleEndian.Uint32(data)&0xF000_00FF)
		}
		split := int(cut) % (len(xs) + 1)
		docs := [][]uint32{xs[:split], xs[split:], xs, nil}
		want := make([]float64, 0, 16)
		for _, a := range docs {
			for _, b := range docs {
				want = append(want, plainJaccard(sortedSet(a), sortedSet(b)))
			}
		}
		s := newShingleSets(make([]string, 4))
		for i, d := range docs {
			s.raw[i] = slices.Clone(d)
		}
		for i, w := range want {
			if got := s.jaccard(i/4, i%4); got != w {
				t.Fatalf("similarity of %d and %d is %v, want %v", i/4, i%4, got, w)
			}
		}
	})
}
