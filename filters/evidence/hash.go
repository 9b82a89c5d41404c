package evidence

import (
	"iter"
	"slices"
	"unicode"
	"unicode/utf8"
)

// The filter's hashes are FNV-1a over 64 bits: they name words within one
// attempt and habits within one day, and are part of a sample's version.
const (
	HashSeed = 14695981039346656037
	fnvPrime = 1099511628211
)

// HashText is 0 for the empty text.
func HashText(s string) uint64 {
	if s == "" {
		return 0
	}
	h := uint64(HashSeed)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

// Mix joins two hashes; the order counts.
func Mix(a, b uint64) uint64 { return (a*fnvPrime ^ b) * fnvPrime }

// AppendWords appends a hash of every word of s.
func AppendWords(words []uint64, s string) []uint64 {
	for h := range Words(s) {
		words = append(words, h)
	}
	return words
}

// Words are hashes of the words of s: runs of letters, digits and marks in lower case.
// Whatever stands between them separates.
func Words(s string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := 0; i < len(s); {
			if c := s[i]; c < utf8.RuneSelf && folded[c] == 0 {
				i++
				continue
			}
			h, n := NextWord(s[i:])
			if n > 0 && !yield(h) {
				return
			}
			i += max(n, 1)
		}
	}
}

// NextWord hashes the word that s starts with. length is in bytes, 0 where s
// does not start with one.
func NextWord(s string) (h uint64, length int) {
	h = HashSeed
	for length < len(s) {
		c := s[length]
		if c < utf8.RuneSelf {
			if c = folded[c]; c == 0 {
				break
			}
			h = (h ^ uint64(c)) * fnvPrime
			length++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[length:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			break
		}
		h = (h ^ uint64(unicode.ToLower(r))) * fnvPrime
		length += n
	}
	return h, length
}

// folded is the lower case of every ASCII letter and digit, 0 for the others.
var folded = func() (t [utf8.RuneSelf]byte) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case c >= 'A' && c <= 'Z':
			t[c] = c + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			t[c] = c
		}
	}
	return t
}()

func (p *Pad) requests(word uint64) bool { return slices.Contains(p.Request, word) }

// Fit is how many words of the request a title holds.
func (p *Pad) Fit(title string) (n int) {
	for word := range Words(title) {
		n += int(Flag(p.requests(word)))
	}
	return n
}
