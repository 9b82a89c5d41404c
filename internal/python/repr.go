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
func Repr(v Value) string {
	var b strings.Builder
	writeRepr(&b, v)
	return b.String()
}

func writeRepr(b *strings.Builder, v Value) {
	switch v.Kind {
	case Bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v.Bool])
	case Int:
		b.WriteString(v.Text)
	case Float:
		b.Write(appendFloat(nil, v.Float))
	case Str:
		writeQuoted(b, v.Text)
	case List:
		b.WriteByte('[')
		for i, e := range v.List {
			separate(b, i)
			writeRepr(b, e)
		}
		b.WriteByte(']')
	case Dict:
		b.WriteByte('{')
		for i, it := range v.Dict {
			separate(b, i)
			writeQuoted(b, it.Key)
			b.WriteString(": ")
			writeRepr(b, it.Value)
		}
		b.WriteByte('}')
	default:
		b.WriteString("None")
	}
}

func separate(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteString(", ")
	}
}

// writeQuoted writes repr of a string: in single quotes unless it holds one
// and no double quote, signs that cannot be printed as escapes.
func writeQuoted(b *strings.Builder, s string) {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	b.WriteByte(quote)
	for len(s) > 0 {
		r, size := DecodeRune(s)
		switch {
		case r == rune(quote) || r == '\\':
			b.WriteByte('\\')
			b.WriteByte(byte(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case printable(r):
			b.WriteString(s[:size])
		case r < 0x100:
			fmt.Fprintf(b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
		s = s[size:]
	}
	b.WriteByte(quote)
}

// printable is str.isprintable of one character: everything that has a glyph,
// and the blank alone among separators.
func printable(r rune) bool {
	return r == ' ' || !unicode.In(r, unicode.Z) && unicode.IsGraphic(r) && isKnown(r)
}
