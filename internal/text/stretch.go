package text

import "iter"

// Stretches are the runs of at least so many bytes of a set, from and to. One
// byte in so many shows each of them.
func Stretches(s string, set *[256]bool, least int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		end := 0
		for i := least - 1; i < len(s); i += least {
			if i < end || !set[s[i]] {
				continue
			}
			start := i
			for end = i; end < len(s) && set[s[end]]; end++ {
			}
			for start > 0 && set[s[start-1]] {
				start--
			}
			if end-start >= least && !yield(start, end) {
				return
			}
		}
	}
}
