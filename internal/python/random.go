package python

import (
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"
)

// Random draws what random.Random(seed) draws.
type Random struct{ source *prng.MT19937 }

// NewRandom is random.Random(seed).
func NewRandom(seed uint64) *Random {
	keys := []uint32{uint32(seed)}
	if seed>>32 > 0 {
		keys = append(keys, uint32(seed>>32))
	}
	r := &Random{prng.NewMT19937()}
	r.source.SeedFromKeys(keys)
	return r
}

// Below is the index that choice takes of n, 1 to 2^32-1.
func (r *Random) Below(n int64) int64 {
	shift := 32 - bits.Len32(uint32(n))
	for {
		if v := int64(r.source.Uint32() >> shift); v < n {
			return v
		}
	}
}

// Between is randint: both ends included, at most 2^32-2 apart.
func (r *Random) Between(low, high int64) int64 { return low + r.Below(high-low+1) }
