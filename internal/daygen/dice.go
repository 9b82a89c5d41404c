package daygen

// dice is a stream of chance that a seed fixes for ever (splitmix64).
type dice struct{ state uint64 }

// roll starts a stream of its own for each list of seeds.
func roll(seeds ...uint64) *dice {
	d := &dice{}
	for _, s := range seeds {
		d.state = d.state*0x9e3779b97f4a7c15 + s
		d.state = d.next()
	}
	return d
}

func (d *dice) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n is a number from 0 to below n.
func (d *dice) n(n int) int { return int(d.next() >> 33 % uint64(n)) }

// between is a number from low to high, both included.
func (d *dice) between(low, high int) int { return low + d.n(high-low+1) }

// share is a number from 0 to below 1.
func (d *dice) share() float64 { return float64(d.next()>>11) / (1 << 53) }

func (d *dice) chance(p float64) bool { return d.share() < p }

func pick[T any](d *dice, from []T) T { return from[d.n(len(from))] }

// some picks n different items in random order.
func some[T any](d *dice, n int, from []T) []T {
	left := append([]T(nil), from...)
	for i := range min(n, len(left)) {
		j := i + d.n(len(left)-i)
		left[i], left[j] = left[j], left[i]
	}
	return left[:min(n, len(left))]
}

// digits is a number of n digits that does not start with 0.
func (d *dice) digits(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte('0' + d.n(10))
	}
	out[0] = byte('1' + d.n(9))
	return string(out)
}

const hexDigits = "0123456789abcdef"

func (d *dice) hex(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = hexDigits[d.n(16)]
	}
	return string(out)
}

func (d *dice) uuid() string {
	return d.hex(8) + "-" + d.hex(4) + "-4" + d.hex(3) + "-a" + d.hex(3) + "-" + d.hex(12)
}
