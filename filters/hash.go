package filters

import (
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// The filter's hashes are FNV-1a over 64 bits: they name words within one
// attempt and habits within one day, and are part of a sample's version.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func hashText(s string) uint64 {
	if s == "" {
		return 0
	}
	h := uint64(fnvOffset)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

// mix joins two hashes; the order counts.
func mix(a, b uint64) uint64 { return (a*fnvPrime ^ b) * fnvPrime }

// appendWords appends a hash of every word of s: runs of letters, digits and
// marks in lower case. Whatever stands between them separates.
func appendWords(words []uint64, s string) []uint64 {
	h := uint64(fnvOffset)
	open := false
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		i += n
		if !wordRune(r) {
			if open {
				words = append(words, h)
				h, open = fnvOffset, false
			}
			continue
		}
		open = true
		h = (h ^ uint64(lower(r))) * fnvPrime
	}
	if open {
		words = append(words, h)
	}
	return words
}

// wordSet is a small set of words: a request has some forty.
type wordSet struct {
	words []uint64
	// mask has a bit for the low six bits of every word: most words are not in
	// the set, and this says so at once.
	mask uint64
}

func newWordSet(words []uint64) wordSet {
	s := wordSet{words: words}
	for _, w := range words {
		s.mask |= 1 << (w & 63)
	}
	return s
}

func (s *wordSet) has(word uint64) bool {
	if s.mask&(1<<(word&63)) == 0 {
		return false
	}
	for _, w := range s.words {
		if w == word {
			return true
		}
	}
	return false
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func lower(r rune) rune {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(r)
}

// hashSet hashes a filter that is a list of words in any order, written as a
// list or with commas; "default" is no filter.
func hashSet(v gjson.Result, encoded bool) (h uint64) {
	if v.IsArray() {
		v.ForEach(func(_, item gjson.Result) bool {
			h += hashSet(item, encoded)
			return true
		})
		return h
	}
	s := plain(text(v), encoded)
	for s != "" {
		var word string
		word, s = cutComma(s)
		if word != "" && word != "default" {
			h += hashText(word)
		}
	}
	return h
}

// cutComma cuts the first entry off a comma list, without blanks around it.
func cutComma(s string) (word, rest string) {
	i := 0
	for i < len(s) && s[i] != ',' {
		i++
	}
	word = s[:i]
	if i < len(s) {
		rest = s[i+1:]
	}
	for word != "" && word[0] == ' ' {
		word = word[1:]
	}
	for word != "" && word[len(word)-1] == ' ' {
		word = word[:len(word)-1]
	}
	return word, rest
}
