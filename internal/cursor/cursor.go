// Package cursor reads one JSON text from start to end and checks every byte. Values are read as
// Go values or skipped as raw JSON; no tree is built. It reads 8 bytes at a time where possible.
//
// It accepts what encoding/json accepts, as a fuzz test verifies. Strings without escapes share
// the memory of the text. All others are unescaped into one buffer per text.
package cursor

import (
	"strings"

	"github.com/trajectory-arena/arena"
)

// Cursor is a position in one JSON text. Its methods read the value at that position and move to
// its end. After the first error, the cursor is at the end of the text, every method returns
// zero values, and Err returns the error.
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
	// unusual reports whether a string has an unnecessary escape.
	unusual bool
	// mistyped is the last value that was skipped because of its type.
	mistyped arena.Raw
	// infinite reports whether a skipped number is too large for a float64.
	infinite bool
}

// Limits are the limits for reading one text. They bound memory and stack.
type Limits struct {
	// Depth is the maximum nesting of arrays and objects.
	Depth int
	// StringBytes is the maximum length of a string or key, in bytes as written. Strings of less
	// than 8 bytes are not checked.
	StringBytes int
	// Elements is the maximum number of array elements that are read. Skipped elements do not
	// count.
	Elements int
}

// New returns a cursor at the first value of src, which must be valid UTF-8.
func New(src string, limits Limits) *Cursor {
	c := &Cursor{src: src, limits: limits}
	c.space()
	return c
}

// Reset moves the cursor to the start of another text and allocates new memory for unescaped
// strings.
func (c *Cursor) Reset(src string) {
	*c = Cursor{src: src, limits: c.limits, nest: c.nest}
	c.space()
}

// Reserve sets the minimum capacity of the memory for unescaped strings, so that a single
// allocation is enough.
func (c *Cursor) Reserve(bytes int) { c.room = bytes }

// Next moves the cursor to the start of another text and keeps the memory of unescaped strings.
func (c *Cursor) Next(src string) {
	c.src = src
	c.pos = 0
	c.depth = 0
	c.elements = 0
	c.err = nil
	c.lone = false
	c.space()
}

// Err returns the first error. It returns nil if everything read so far is valid JSON within the
// limits.
func (c *Cursor) Err() error { return c.err }

// End returns Err, or an error if the text continues after the value that was read.
func (c *Cursor) End() error {
	c.space()
	if c.err == nil && c.pos < len(c.src) {
		c.fail(Syntax, "more text after the value")
	}
	return c.err
}

// LoneSurrogate reports whether a string read so far contains half of an escaped surrogate pair,
// which UTF-8 cannot represent.
func (c *Cursor) LoneSurrogate() bool { return c.lone }

// Unusual reports whether a string read so far escapes a character unnecessarily or by its
// number.
func (c *Cursor) Unusual() bool { return c.unusual }

// Kind returns the type of the value at the cursor. It returns Absent after an error or at the
// end.
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

// Object calls member for each key in order; member must read the key's value. It skips a value
// of another type and returns false.
func (c *Cursor) Object(member func(key string)) bool {
	return c.Members(member, func(string, arena.Raw) {})
}

// Members reads an object as Object does, and calls mistyped for each member whose value was
// skipped because of its type.
func (c *Cursor) Members(member func(key string), mistyped func(key string, value arena.Raw)) bool {
	if !c.open('{') {
		return false
	}
	for more := c.first('}'); more; more = c.more('}') {
		key := c.key()
		if c.err != nil {
			return false
		}
		member(key)
		if c.mistyped != "" {
			mistyped(key, c.mistyped)
			c.mistyped = ""
		}
	}
	c.depth--
	return c.err == nil
}

// Array calls element for each element, which must read the element. It skips a value of another
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

// Raw reads any value and returns it as written, without surrounding white space.
func (c *Cursor) Raw() arena.Raw {
	start := c.pos
	c.Skip()
	return c.Since(start)
}

// Compact reads any value and returns it without white space.
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

// open moves the cursor into the array or object at the cursor, which begins with bracket, and
// returns true. It skips any other value and returns false. It also returns false after an error.
func (c *Cursor) open(bracket byte) bool {
	if c.pos >= len(c.src) || c.src[c.pos] != bracket {
		c.SkipMistyped()
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

// first reports whether an array or object that was just opened has a member. If it has none, the
// cursor moves past the closing bracket.
func (c *Cursor) first(closing byte) bool {
	if c.pos < len(c.src) && c.src[c.pos] == closing {
		c.pos++
		return false
	}
	return c.err == nil
}

// more reports whether another member of the array or object follows. The cursor moves past the
// comma or, at the end, past the closing bracket.
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

// SkipMistyped skips a value that has another type than its reader wants. A null is no value.
func (c *Cursor) SkipMistyped() {
	if c.Kind() == arena.Null {
		c.Skip()
		return
	}
	c.mistyped = c.Raw()
}

// Source returns the text that the cursor reads.
func (c *Cursor) Source() string { return c.src }

// Taken returns the number of array elements read so far.
func (c *Cursor) Taken() int { return c.elements }

// Mark returns the offset of the value at the cursor. It is an argument for Since.
func (c *Cursor) Mark() int { return c.pos }

// Since returns the text from the offset mark to the cursor, which is the value read since the
// call of Mark. It returns "" after an error.
func (c *Cursor) Since(mark int) arena.Raw {
	if c.err != nil {
		return ""
	}
	return arena.Raw(c.src[mark:c.pos])
}
