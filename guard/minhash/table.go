package minhash

import "math/bits"

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
