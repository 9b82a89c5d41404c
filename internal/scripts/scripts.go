// Package scripts reads punctuation and digits of all scripts of Unicode.
package scripts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// questionMarks are the characters of Unicode 15 that end a question: those with QUESTION MARK or
// INTERROBANG in their name, without ornaments, signs of mathematics and marks before a question.
// The Armenian one (U+055E) stands inside a word.
const questionMarks = "?\u037e\u055e\u061f\u1367\u1945\u203d\u2047\u2048\u2049\u2cfa\u2e2e\ua60f\ua6f7\ufe16\ufe56\uff1f\U00011143"

// IsQuestionMark reports whether a character of any script marks a question.
func IsQuestionMark(r rune) bool {
	return r == '?' || r >= utf8.RuneSelf && strings.ContainsRune(questionMarks, r)
}

// EndsSentence reports whether a character of any script may end a sentence (Sentence_Terminal of the
// Unicode Character Database, or the Greek question mark). A point may also be part of a number.
func EndsSentence(r rune) bool { return unicode.Is(unicode.STerm, r) || r == '\u037e' }

// EndsClause reports whether a character of any script may end a sentence or a part of one, as a comma
// does (Terminal_Punctuation of the Unicode Character Database).
func EndsClause(r rune) bool { return unicode.Is(unicode.Terminal_Punctuation, r) }

// ASCIIDigit returns the ASCII digit of the same value for a decimal digit of another script, and
// any other character itself.
func ASCIIDigit(r rune) rune {
	if r < utf8.RuneSelf || !unicode.IsDigit(r) {
		return r
	}
	for zero := r; zero > r-10; zero-- { // the digits of a script follow one another
		if !unicode.IsDigit(zero - 1) {
			return '0' + (r - zero)
		}
	}
	return r
}
