package daygen

import seeded "github.com/trajectory-arena/arena/internal/dice"

// dice is the chance that a day is made with.
type dice struct{ *seeded.Dice }

func roll(seeds ...uint64) *dice { return &dice{seeded.Roll(seeds...)} }

// between is a number from low to high, both included.
func (d *dice) between(low, high int) int { return low + d.N(high-low+1) }

func (d *dice) chance(p float64) bool { return d.Share() < p }

func pick[T any](d *dice, from []T) T { return from[d.N(len(from))] }

// some picks n different items in random order.
func some[T any](d *dice, n int, from []T) []T {
	left := append([]T(nil), from...)
	for i := range min(n, len(left)) {
		j := i + d.N(len(left)-i)
		left[i], left[j] = left[j], left[i]
	}
	return left[:min(n, len(left))]
}

// digits is a number of n digits that does not start with 0.
func (d *dice) digits(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte('0' + d.N(10))
	}
	out[0] = byte('1' + d.N(9))
	return string(out)
}

func (d *dice) hex(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = "0123456789abcdef"[d.N(16)]
	}
	return string(out)
}

func (d *dice) uuid() string {
	return d.hex(8) + "-" + d.hex(4) + "-4" + d.hex(3) + "-a" + d.hex(3) + "-" + d.hex(12)
}
