// Package analyzer turns text into index terms exactly as the subnet's search
// engine does: words by Unicode's segmentation, the possessive dropped, lower
// case, 33 stop words dropped, Porter's stems.
package analyzer

import (
	"unicode"
	"unicode/utf8"
)

// maxWord is the longest word in UTF-16 units; a longer one is cut every so
// many (the default of Lucene's StandardTokenizer).
const maxWord = 255

var stopWords = set("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of", "on",
	"or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with")

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// Terms calls emit with every index term of text in its order. The slice is
// valid during the call only.
func Terms(text string, emit func([]byte)) {
	var buf [maxWord + 1]byte
	finish := func(word string) { term(buf[:0], word, emit) }
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			unicodeWords(text, finish)
			return
		}
	}
	asciiWords(text, finish)
}

// term finishes one word: possessive, case, stop words, stem.
func term(b []byte, word string, emit func([]byte)) {
	word = withoutPossessive(word)
	plain := true
	for i := range len(word) {
		c := word[i]
		if c >= utf8.RuneSelf {
			plain = false
			break
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	if !plain {
		rs := []rune(word)
		for i, r := range rs {
			rs[i] = unicode.ToLower(r)
		}
		emit([]byte(string(rs[:stem(rs)])))
		return
	}
	if len(b) > 0 && !stopWords[string(b)] {
		emit(b[:stem(b)])
	}
}

// withoutPossessive drops a final 's, with any of three apostrophes.
func withoutPossessive(word string) string {
	n := len(word)
	if n < 2 || word[n-1]|0x20 != 's' {
		return word
	}
	r, size := utf8.DecodeLastRuneInString(word[:n-1])
	if r == '\'' || r == '’' || r == '＇' {
		return word[:n-1-size]
	}
	return word
}
