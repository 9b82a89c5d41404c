package gates

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/text"
)

// fold lowers the case of text and keeps every byte offset: a letter whose
// lower case has another length stays as it is, as do bytes that are no UTF-8, so
// that quotes are cut from the original.
func fold(text string) string {
	b := []byte(text)
	for i := 0; i < len(b); {
		if c := b[i]; c < utf8.RuneSelf {
			b[i] = lower(c)
			i++
			continue
		}
		c, width := utf8.DecodeRune(b[i:])
		if low := unicode.ToLower(c); low != c && utf8.RuneLen(low) == width {
			utf8.EncodeRune(b[i:], low)
		}
		i += width
	}
	return string(b)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWordByte reports whether c is an ASCII letter or digit.
func isWordByte(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || isDigit(c) }

// unspaced tells the scripts that put no blanks between words.
func unspaced(r rune) bool {
	return r >= 0x0E00 && r <= 0x0E7F || r >= 0x3040 && r <= 0x30FF ||
		r >= 0x3400 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7AF || r >= 0xF900 && r <= 0xFAFF
}

// maxQuote bounds a cited passage, in bytes.
const maxQuote = 240

// clip cuts a passage to maxQuote bytes at a rune's edge.
func clip(s string) string {
	return strings.TrimSpace(text.ClipBytes(strings.TrimSpace(s), maxQuote))
}

// span is a half-open range of bytes.
type span struct{ start, end int32 }

// quote cuts the sentence s from text; where it is too long, the part around
// the evidence at.
func quote(text string, s, at span) string {
	if s.end-s.start > maxQuote && at.end-s.start > maxQuote {
		s.start = max(s.start, at.start-maxQuote/2)
		for s.start < at.start && !utf8.RuneStart(text[s.start]) {
			s.start++
		}
	}
	return clip(text[s.start:s.end])
}
