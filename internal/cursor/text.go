package cursor

import (
	"cmp"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
)

// chunkBytes is the arena's first size: most attempts have their few escaped
// strings in one chunk of it.
const chunkBytes = 4096

// String takes a string, unescaped. Half a surrogate pair reads as U+FFFD.
// Any other value is stepped over and gives false.
func (c *Cursor) String() (string, bool) {
	if c.Kind() != arena.String {
		c.Skip()
		return "", false
	}
	s := c.text()
	return s, c.err == nil
}

// ID takes a string, or a number as it is written: ids of 20 digits stay what
// they are. coerced tells that it was a number. Any other value is stepped
// over and gives "".
func (c *Cursor) ID() (id string, coerced bool) {
	switch c.Kind() {
	case arena.String:
		return c.text(), false
	case arena.Number:
		return string(c.Raw()), c.err == nil
	default:
		c.Skip()
		return "", false
	}
}

// text takes the string at the cursor.
func (c *Cursor) text() string {
	start := c.pos + 1
	escapes := c.skipString()
	if c.err != nil {
		return ""
	}
	raw := c.src[start : c.pos-1]
	if escapes == 0 {
		return raw
	}
	return c.unescape(raw)
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stops has the high bit set in each byte of x that a plain run of string
// cannot hold: quote, backslash, control character. Bits above the lowest one
// set may be wrong.
func stops(x uint64) uint64 {
	quote := x ^ ones*'"' // as slash, it has the high bits of x
	slash := x ^ ones*'\\'
	return ((quote - ones) | (slash - ones) | (x - ones*' ')) &^ x & highs
}

// load reads the first 8 bytes of s, little-endian.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// skipString steps over the string at the cursor and counts its escapes.
func (c *Cursor) skipString() (escapes int) { return c.endString(c.pos + 1) }

// endString is skipString for a string of which all before i is plain.
func (c *Cursor) endString(i int) (escapes int) {
	start := c.pos
	for {
		i = plainRun(c.src, i)
		if i >= len(c.src) {
			c.fail(EndedInString, "")
			return 0
		}
		switch c.src[i] {
		case '"':
			c.pos = i + 1
			if c.pos-start-2 > c.limits.StringBytes {
				c.fail(StringTooLong, "string longer than the limit")
			}
			return escapes
		case '\\':
			n := c.escape(c.src[i:])
			if n == 0 {
				return 0
			}
			i += n
			escapes++
		default:
			c.pos = i
			c.fail(Syntax, "control character in a string")
			return 0
		}
	}
}

// plainRun returns the first index from i that holds a quote, backslash or
// control character, or len(s).
func plainRun(s string, i int) int {
	for i+16 <= len(s) {
		first, second := stops(load(s[i:])), stops(load(s[i+8:]))
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

// stringEnd is the index behind the string at i of a text that was checked.
func stringEnd(s string, i int) int {
	for i = plainRun(s, i+1); s[i] == '\\'; i = plainRun(s, i+2) {
	}
	return i + 1
}

// escape checks the escape sequence that s starts with and returns its length,
// a surrogate pair being one; 0 after an error.
func (c *Cursor) escape(s string) int {
	if len(s) < 2 {
		c.fail(EndedInString, "")
		return 0
	}
	if s[1] != 'u' {
		if strings.IndexByte(`"\/bfnrt`, s[1]) < 0 {
			c.fail(Syntax, "no such escape in a string")
			return 0
		}
		return 2
	}
	r, ok := c.hex(s)
	if !ok {
		return 0
	}
	if !utf16.IsSurrogate(r) {
		return 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if low, ok := hex4(s[8:12]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			return 12
		}
	}
	c.lone = true
	return 6
}

// hex reads the four digits of the \u escape that s starts with.
func (c *Cursor) hex(s string) (rune, bool) {
	if len(s) < 6 {
		c.fail(EndedInString, "")
		return 0, false
	}
	r, ok := hex4(s[2:6])
	if !ok {
		c.fail(Syntax, "no four hexadecimal digits after \\u")
	}
	return r, ok
}

func hex4(digits string) (rune, bool) {
	for i := range len(digits) {
		if d := digits[i] | 0x20; (d < '0' || d > '9') && (d < 'a' || d > 'f') {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	return rune(n), err == nil
}

// unescape cuts the meaning of raw, checked before, from the arena.
func (c *Cursor) unescape(raw string) string {
	if size := c.arena.Cap(); size-c.arena.Len() < len(raw) {
		c.arena = strings.Builder{}
		c.arena.Grow(max(cmp.Or(c.room, chunkBytes), 2*size, len(raw)))
	}
	start := c.arena.Len()
	for len(raw) > 0 {
		n := strings.IndexByte(raw, '\\')
		if n < 0 {
			n = len(raw)
		}
		c.arena.WriteString(raw[:n])
		raw = raw[n:]
		if raw != "" {
			raw = raw[c.writeEscape(raw):]
		}
	}
	return c.arena.String()[start:]
}

// writeEscape appends the meaning of the escape that s starts with and returns
// the escape's length.
func (c *Cursor) writeEscape(s string) int {
	switch s[1] {
	case 'n':
		c.arena.WriteByte('\n')
	case 't':
		c.arena.WriteByte('\t')
	case 'r':
		c.arena.WriteByte('\r')
	case 'b':
		c.arena.WriteByte('\b')
	case 'f':
		c.arena.WriteByte('\f')
	case 'u':
		n := c.escape(s)
		r, _ := hex4(s[2:6])
		if n == 12 {
			low, _ := hex4(s[8:12])
			r = utf16.DecodeRune(r, low)
		}
		c.arena.WriteRune(r) // half a pair becomes U+FFFD
		return n
	default:
		c.arena.WriteByte(s[1])
	}
	return 2
}
