package python

import (
	"fmt"
	"strings"
	"unicode"
)

// String is str(v): a string as it is, anything else as its repr.
func (v Value) String() string {
	if v.Kind == Str {
		return v.Text
	}
	return Repr(v)
}

// Repr is repr(v).
func Repr(v Value) string { return string(shown.append(nil, v)) }

// appendQuoted appends repr of a string: in single quotes unless it holds one
// and no double quote, signs that cannot be printed as escapes.
func appendQuoted(b []byte, s string) []byte {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	b = append(b, quote)
	for len(s) > 0 {
		r, size := DecodeRune(s)
		switch {
		case r == rune(quote) || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case printable(r):
			b = append(b, s[:size]...)
		case r < 0x100:
			b = fmt.Appendf(b, `\x%02x`, r)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
		s = s[size:]
	}
	return append(b, quote)
}

// printable is str.isprintable of one character: everything that has a glyph,
// and the blank alone among separators.
func printable(r rune) bool {
	return r == ' ' || !unicode.In(r, unicode.Z) && unicode.IsGraphic(r) && isKnown(r)
}
