package evidence

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// Constants of the FNV-1a hash over 64 bits. Hashes identify words within one attempt and habits
// within one day. Samples of attempts store hashes, so a change of the hash needs a new version
// of samples.
const (
	HashSeed = 14695981039346656037
	fnvPrime = 1099511628211
)

// HashText returns the hash of a text, 0 for an empty text.
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

// Mix combines two hashes into one. The order of a and b matters.
func Mix(a, b uint64) uint64 { return (a*fnvPrime ^ b) * fnvPrime }

// AppendWords appends the hash of every word of s to words.
func AppendWords(words []uint64, s string) []uint64 {
	for h := range Words(s) {
		words = append(words, h)
	}
	return words
}

// Words yields the hashes of the words of s in lower case. A word is a run of letters, digits
// and marks; all other runes separate words.
func Words(s string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := 0; i < len(s); {
			if c := s[i]; c < utf8.RuneSelf && lowerASCII[c] == 0 {
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

// NextWord returns the hash and the length in bytes of the word at the start of s. The length
// is 0 if s does not start with a word.
func NextWord(s string) (h uint64, length int) {
	h = HashSeed
	for length < len(s) {
		c := s[length]
		if c < utf8.RuneSelf {
			if c = lowerASCII[c]; c == 0 {
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

// lowerASCII maps each ASCII letter and digit to its lower case, and every other ASCII
// character to 0.
var lowerASCII = func() (table [utf8.RuneSelf]byte) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case c >= 'A' && c <= 'Z':
			table[c] = c + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			table[c] = c
		}
	}
	return table
}()
