package habits

import (
	"math/bits"
	"sync/atomic"
)

// Repeats finds the hashes of replies and dialogues that occur more than once in a day, with few
// others. A reply or dialogue that occurs once says nothing about copies, so an Index need not
// store it. It takes 2 to 4 bytes for each hash, and an Index 27 and more. Add is safe for
// concurrent use, also with Has.
type Repeats struct {
	// once and again have one bit for each value that a hash shortens to: it occurred, and it
	// occurred again.
	once  []uint64
	again []uint64
	shift int
}

// NewRepeats returns a Repeats for about n hashes.
func NewRepeats(n int) *Repeats {
	size := max(bits.Len(uint(8*n)), 10) // the logarithm of the number of bits
	return &Repeats{
		once:  make([]uint64, 1<<(size-6)),
		again: make([]uint64, 1<<(size-6)),
		shift: 64 - size,
	}
}

// Add adds the replies and the dialogue of an attempt.
func (r *Repeats) Add(s *Sample) {
	for _, reply := range s.Replies {
		r.add(reply)
	}
	if s.Dialogue != 0 {
		r.add(s.Dialogue)
	}
}

func (r *Repeats) add(hash uint64) {
	word, bit := r.place(hash)
	if atomic.OrUint64(&r.once[word], bit)&bit != 0 {
		atomic.OrUint64(&r.again[word], bit)
	}
}

// has reports whether a hash was added more than once. As in a Bloom filter, it may also report
// true for a hash that was added once. A nil Repeats reports true for every hash.
func (r *Repeats) has(hash uint64) bool {
	if r == nil {
		return true
	}
	word, bit := r.place(hash)
	return atomic.LoadUint64(&r.again[word])&bit != 0
}

// place returns the place of a hash's bit in the bit sets: the index of the 64-bit word, and a mask
// with only that bit set. The hash is mixed first, by the multiplier of Fibonacci hashing, since
// hashes of other packages may differ in few bits.
func (r *Repeats) place(hash uint64) (word, bit uint64) {
	value := hash * 0x9e3779b97f4a7c15 >> r.shift
	return value >> 6, 1 << (value & 63)
}
