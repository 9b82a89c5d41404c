package cursor

import (
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
)

// chunkBytes is the initial size in bytes of the memory for unescaped strings. It is enough for
// the few escaped strings of most traces.
const chunkBytes = 4096

// String reads a string and unescapes it. Half of a surrogate pair becomes U+FFFD. It skips any
// other value and returns false.
func (c *Cursor) String() (string, bool) {
	if c.Kind() != arena.String {
		c.SkipMistyped()
		return "", false
	}
	s := c.text()
	return s, c.err == nil
}

// ID reads a string, or a number as it is written, so that ids of 20 digits are preserved. It
// skips any other value and returns "".
func (c *Cursor) ID() string {
	switch c.Kind() {
	case arena.String:
		return c.text()
	case arena.Number:
		return string(c.Raw())
	default:
		c.SkipMistyped()
		return ""
	}
}

func (c *Cursor) text() string {
	start := c.pos + 1
	i := plainRun(c.src, start)
	if i < len(c.src) && c.src[i] == '\\' {
		return c.unescape(i)
	}
	if c.endString(i); c.err != nil {
		return ""
	}
	return c.src[start : c.pos-1]
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stops returns a mask in which the high bit of a byte is set if the byte of x is a quote, a
// backslash or a control character. These end a plain run of a string. Only the lowest set bit
// is reliable.
func stops(x uint64) uint64 {
	quote := x ^ ones*'"' // as slash, it has the high bits of x
	slash := x ^ ones*'\\'
	return ((quote - ones) | (slash - ones) | (x - ones*' ')) &^ x & highs
}

// load returns the first 8 bytes of s as a little-endian number.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// endString moves the cursor from the start of a string to its end. The bytes of the string
// before i must have been checked. It records an error if the string is invalid or exceeds the
// limit.
func (c *Cursor) endString(i int) {
	start := c.pos
	for {
		i = plainRun(c.src, i)
		if i >= len(c.src) {
			c.fail(EndedInString, "")
			return
		}
		switch c.src[i] {
		case '"':
			c.pos = i + 1
			if c.pos-start-2 > c.limits.StringBytes {
				c.fail(StringTooLong, "string longer than the limit")
			}
			return
		case '\\':
			n := c.escape(c.src[i:])
			if n == 0 {
				return
			}
			i += n
		default:
			c.pos = i
			c.fail(Syntax, "control character in a string")
			return
		}
	}
}

// plainRun returns the first index from i on at which s has a quote, a backslash or a control
// character. It returns len(s) if there is none.
func plainRun(s string, i int) int {
	for i+16 <= len(s) {
		first := stops(load(s[i:]))
		second := stops(load(s[i+8:]))
		if first|second != 0 {
			if first != 0 {
				return i + bits.TrailingZeros64(first)>>3
			}
			return i + 8 + bits.TrailingZeros64(second)>>3
		}
		i += 16
	}
	for i < len(s) && s[i] != '"' && s[i] != '\\' && s[i] >= ' ' {
		i++
	}
	return i
}

// stringEnd returns the index after the JSON string that begins at s[i]. s must be valid JSON.
func stringEnd(s string, i int) int {
	for i = plainRun(s, i+1); s[i] == '\\'; i = plainRun(s, i+2) {
	}
	return i + 1
}

// escape checks the escape sequence at the start of s and returns its length in bytes, 0 after
// an error. A surrogate pair is one sequence.
func (c *Cursor) escape(s string) int {
	if len(s) < 2 {
		c.fail(EndedInString, "")
		return 0
	}
	c.unusual = c.unusual || s[1] == 'u' || s[1] == '/'
	if s[1] != 'u' {
		if unescaped[s[1]] == 0 {
			c.fail(Syntax, "no such escape in a string")
			return 0
		}
		return 2
	}
	if len(s) < 6 {
		c.fail(EndedInString, "")
		return 0
	}
	r, ok := hex4(s[2:6])
	if !ok {
		c.fail(Syntax, "no four hexadecimal digits after \\u")
		return 0
	}
	n := escapeLen(s)
	c.lone = c.lone || n == 6 && utf16.IsSurrogate(r)
	return n
}

// escapeLen returns the length in bytes of the \u escape at the start of s: 12 for a surrogate
// pair, otherwise 6.
func escapeLen(s string) int {
	if len(s) < 12 || s[6] != '\\' || s[7] != 'u' {
		return 6
	}
	high, _ := hex4(s[2:6])
	if low, ok := hex4(s[8:12]); ok && utf16.DecodeRune(high, low) != utf8.RuneError {
		return 12
	}
	return 6
}

func hex4(digits string) (rune, bool) {
	n, err := strconv.ParseUint(digits, 16, 32)
	return rune(n), err == nil
}

// unescape reads the string at the cursor and returns it unescaped. i is the index of its first
// backslash. The bytes before i must have been checked.
func (c *Cursor) unescape(i int) string {
	start := c.pos + 1
	if c.endString(i); c.err != nil {
		return ""
	}
	inside := c.src[start : c.pos-1]
	if c.arena.Cap()-c.arena.Len() < len(inside) {
		size := min(max(chunkBytes, 2*c.arena.Cap(), len(inside)), len(c.src)-start)
		c.arena = strings.Builder{}
		c.arena.Grow(max(c.room, size))
	}
	begin := c.arena.Len()
	writeMeaning(&c.arena, inside)
	return c.arena.String()[begin:]
}

// Unescape returns the text that a JSON string represents. inside is the string without its
// quotes, which must be valid.
func Unescape(inside string) string {
	if strings.IndexByte(inside, '\\') < 0 {
		return inside
	}
	var out strings.Builder
	out.Grow(len(inside))
	writeMeaning(&out, inside)
	return out.String()
}

func writeMeaning(out *strings.Builder, inside string) {
	start := 0
	for i := plainRun(inside, 0); i < len(inside); i = plainRun(inside, start) {
		out.WriteString(inside[start:i])
		if m := unescaped[inside[i+1]]; m != 0 {
			out.WriteByte(m)
			start = i + 2
			continue
		}
		start = i + escapeLen(inside[i:])
		out.WriteRune(unescapeDigits(inside[i:start]))
	}
	out.WriteString(inside[start:])
}

// unescaped maps the byte after a backslash to the character that the escape represents. It is 0
// for u, after which hexadecimal digits follow, and for bytes that are not an escape.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescapeDigits returns the character of a \u escape or of a surrogate pair. Half of a
// surrogate pair is returned as it is, a rune that strings.Builder writes as U+FFFD.
func unescapeDigits(escape string) rune {
	r, _ := hex4(escape[2:6])
	if len(escape) == 12 {
		low, _ := hex4(escape[8:12])
		return utf16.DecodeRune(r, low)
	}
	return r
}
