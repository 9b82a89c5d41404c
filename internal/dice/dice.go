// Package dice generates pseudorandom numbers from a seed. Unlike the standard library, it
// guarantees the same numbers on every machine and in every version.
package dice

// Dice is a pseudorandom sequence of numbers (splitmix64). It must not be used for secrets.
type Dice struct{ state uint64 }

// New returns the sequence that is determined by a list of seeds.
func New(seeds ...uint64) *Dice {
	d := &Dice{}
	for _, s := range seeds {
		d.state = d.state*0x9e3779b97f4a7c15 + s
		d.state = d.Next()
	}
	return d
}

// Next returns the next number of the sequence.
func (d *Dice) Next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// N returns a number in [0, n). n may be up to a few millions.
func (d *Dice) N(n int) int { return int(d.Next() >> 33 % uint64(n)) }

// Share returns a number in [0, 1).
func (d *Dice) Share() float64 { return float64(d.Next()>>11) / (1 << 53) }
