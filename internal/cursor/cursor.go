// Package cursor reads one JSON text from start to end and checks every byte of it. Values are
// read as Go values or skipped as raw JSON; no tree is built. It reads 8 bytes at a time where
// possible.
//
// It accepts what encoding/json accepts, which a fuzz target holds. Strings without escapes
// share the memory of the text; the others are unescaped into one arena per text.
package cursor

import (
	"strings"

	"github.com/trajectory-arena/arena"
)

// Cursor is a position in one JSON text. Its methods read the value at that position and
// move to its end. After the first error the cursor stays at the end of the text and every
// method returns zero values; Err returns the error.
type Cursor struct {
	src      string
	pos      int
	depth    int
	elements int
	nest     []byte // closing brackets of what Skip is in
	limits   Limits
	err      error           // an *Error
	arena    strings.Builder // unescaped strings
	room     int             // minimal size of the arena
	lone     bool
	// unusual reports whether a string had an escape that it did not need.
	unusual bool
	// infinite reports whether a skipped number is too large for a float64.
	infinite bool
}

// Limits bound the memory and the stack that one text may take.
type Limits struct {
	// Depth is the deepest nesting of arrays and objects.
	Depth int
	// StringBytes is the maximum length of a string or key, in bytes as written. Strings of fewer
	// than 8 bytes are not checked.
	StringBytes int
	// Elements is the limit of array elements that are read; skipped ones do not count.
	Elements int
}

// New returns a cursor at the first value of src, which must be valid UTF-8.
func New(src string, limits Limits) *Cursor {
	c := &Cursor{src: src, limits: limits}
	c.space()
	return c
}

// Reset moves the cursor to the start of another text, with a new arena.
func (c *Cursor) Reset(src string) {
	*c = Cursor{src: src, limits: c.limits, nest: c.nest}
	c.space()
}

// Reserve sets the minimum capacity of the memory for unescaped strings, so that one allocation can
// hold all of them.
func (c *Cursor) Reserve(bytes int) { c.room = bytes }

// Next moves the cursor to the start of another text. The memory of unescaped strings is still
// used.
func (c *Cursor) Next(src string) {
	c.src = src
	c.pos = 0
	c.depth = 0
	c.elements = 0
	c.err = nil
	c.lone = false
	c.space()
}

// Err returns nil if everything read so far is valid JSON within the limits.
func (c *Cursor) Err() error { return c.err }

// End returns Err, or an error if the text holds more than the value that was read.
func (c *Cursor) End() error {
	c.space()
	if c.err == nil && c.pos < len(c.src) {
		c.fail(Syntax, "more text after the value")
	}
	return c.err
}

// LoneSurrogate reports whether a string read so far holds half of an escaped surrogate
// pair, which UTF-8 cannot express.
func (c *Cursor) LoneSurrogate() bool { return c.lone }

// Unusual reports whether a string read so far escapes a character that needs no escape, or
// escapes one by number.
func (c *Cursor) Unusual() bool { return c.unusual }

// Kind returns the type of the value at the cursor, or Absent after an error or at the end.
func (c *Cursor) Kind() arena.Kind {
	if c.pos >= len(c.src) {
		return arena.Absent
	}
	switch c.src[c.pos] {
	case '{':
		return arena.Object
	case '[':
		return arena.Array
	case '"':
		return arena.String
	case 'n':
		return arena.Null
	case 't', 'f':
		return arena.Bool
	default:
		return arena.Number
	}
}

// Object calls member for each key, in the text's order; member must read the key's value.
// It skips a value of another type and returns false.
func (c *Cursor) Object(member func(key string)) bool {
	if !c.open('{') {
		return false
	}
	for more := c.first('}'); more; more = c.more('}') {
		key := c.key()
		if c.err != nil {
			return false
		}
		member(key)
	}
	c.depth--
	return c.err == nil
}

// Array calls element for each element, which element must read. It skips a value of another
// type and returns false.
func (c *Cursor) Array(element func()) bool {
	if !c.open('[') {
		return false
	}
	for more := c.first(']'); more; more = c.more(']') {
		if c.elements++; c.elements > c.limits.Elements {
			c.fail(TooMany, "more elements than the limit")
			return false
		}
		element()
	}
	c.depth--
	return c.err == nil
}

// Raw reads any value as it is written, without the white space around it.
func (c *Cursor) Raw() arena.Raw {
	start := c.pos
	c.Skip()
	if c.err != nil {
		return ""
	}
	return arena.Raw(c.src[start:c.pos])
}

// Compact reads any value and returns it without white space between its parts.
func (c *Cursor) Compact() string {
	raw := string(c.Raw())
	var b strings.Builder
	b.Grow(len(raw))
	start := 0
	for i := 0; i < len(raw); {
		switch char := raw[i]; {
		case char == '"':
			i = stringEnd(raw, i)
		case char <= ' ':
			b.WriteString(raw[start:i])
			i = skipSpace(raw, i)
			start = i
		default:
			i++
		}
	}
	b.WriteString(raw[start:])
	return b.String()
}

// open moves into the array or object at the cursor and returns true. It skips a value of another
// type and returns false, and it returns false after an error.
func (c *Cursor) open(bracket byte) bool {
	if c.pos >= len(c.src) || c.src[c.pos] != bracket {
		c.Skip()
		return false
	}
	c.pos++
	c.depth++
	if c.depth > c.limits.Depth {
		c.fail(TooDeep, "nested deeper than the limit")
		return false
	}
	c.space()
	return true
}

// first reports whether the array or object just opened has a member. If it has none, the cursor
// moves past the closing bracket.
func (c *Cursor) first(closing byte) bool {
	if c.pos < len(c.src) && c.src[c.pos] == closing {
		c.pos++
		return false
	}
	return c.err == nil
}

// more moves past a comma and returns true, or past the closing bracket and returns false.
func (c *Cursor) more(closing byte) bool {
	c.space()
	if c.err != nil {
		return false
	}
	if c.pos >= len(c.src) {
		c.fail(Ended, "")
		return false
	}
	switch c.src[c.pos] {
	case ',':
		c.pos++
		c.space()
		return true
	case closing:
		c.pos++
		return false
	default:
		c.fail(Syntax, "no comma between members")
		return false
	}
}

func (c *Cursor) key() string {
	if c.pos >= len(c.src) || c.src[c.pos] != '"' {
		c.expected('"')
		return ""
	}
	name := c.text()
	if c.space(); c.pos >= len(c.src) || c.src[c.pos] != ':' {
		c.expected(':')
		return name
	}
	c.pos++
	c.space()
	return name
}

func (c *Cursor) space() { c.pos = skipSpace(c.src, c.pos) }

// Source returns the text that the cursor reads.
func (c *Cursor) Source() string { return c.src }

// Taken returns the number of array elements read so far.
func (c *Cursor) Taken() int { return c.elements }

// Mark returns the offset of the value at the cursor, as an argument for Since.
func (c *Cursor) Mark() int { return c.pos }

// Since returns the text from the offset mark to the cursor: the value that was read since the call
// of Mark. After an error it returns "".
func (c *Cursor) Since(mark int) arena.Raw {
	if c.err != nil {
		return ""
	}
	return arena.Raw(c.src[mark:c.pos])
}
