package cursor

import (
	"math/bits"
)

// Skip checks one value of any type and moves to its end. It is a loop instead of a recursion
// for speed, since most of a trace is skipped.
func (c *Cursor) Skip() {
	c.nest = c.nest[:0]
	i := c.pos
	for {
		var open bool
		if i, open = c.enterValue(i); open {
			continue
		}
		if i, open = c.leaveValue(i); !open {
			break
		}
	}
	if c.err == nil {
		c.pos = i
	}
}

// enterValue skips the value at i. If the value is an array or object with members, it moves only
// to the first nested value, and open is true. next is the index at which it stopped.
func (c *Cursor) enterValue(i int) (next int, open bool) {
	if i >= len(c.src) {
		return c.failAt(i, Ended, ""), false
	}
	switch c.src[i] {
	case '"':
		return c.skipString(i), false
	case '{':
		if i = c.push(i, '}'); i < len(c.src) && c.src[i] == '}' {
			return c.pop(i), false
		}
		return c.member(i)
	case '[':
		if i = c.push(i, ']'); i < len(c.src) && c.src[i] == ']' {
			return c.pop(i), false
		}
		return i, c.err == nil
	default:
		c.pos = i
		c.scalar()
		return c.pos, false
	}
}

// leaveValue moves from i, the end of a value, to the next value of the same array or object. It
// closes the arrays and objects that end there. open is false at the end of the outermost value.
func (c *Cursor) leaveValue(i int) (next int, open bool) {
	for c.err == nil && len(c.nest) > 0 {
		i = skipSpace(c.src, i)
		closing := c.nest[len(c.nest)-1]
		switch {
		case i >= len(c.src):
			return c.failAt(i, Ended, ""), false
		case c.src[i] == closing:
			i = c.pop(i)
		case c.src[i] != ',':
			return c.failAt(i, Syntax, "no comma between members"), false
		case closing == '}':
			return c.member(skipSpace(c.src, i+1))
		default:
			return skipSpace(c.src, i+1), true
		}
	}
	return i, false
}

func (c *Cursor) member(i int) (next int, open bool) {
	if c.pos = i; i >= len(c.src) || c.src[i] != '"' {
		c.expected('"')
		return len(c.src), false
	}
	if i = skipSpace(c.src, c.skipString(i)); i >= len(c.src) || c.src[i] != ':' {
		c.pos = i
		c.expected(':')
		return len(c.src), false
	}
	return skipSpace(c.src, i+1), c.err == nil
}

func (c *Cursor) push(i int, closing byte) int {
	if c.depth+len(c.nest) >= c.limits.Depth {
		return c.failAt(i, TooDeep, "nested deeper than the limit")
	}
	c.nest = append(c.nest, closing)
	return skipSpace(c.src, i+1)
}

func (c *Cursor) pop(i int) int {
	c.nest = c.nest[:len(c.nest)-1]
	return i + 1
}

// skipString skips the string at i and returns the index after it. A short string without
// escapes, such as most keys, needs a single load of 8 bytes.
func (c *Cursor) skipString(i int) int {
	next := i + 1
	if next+8 <= len(c.src) {
		m := stops(load(c.src[next:]))
		if end := next + bits.TrailingZeros64(m)>>3; m != 0 && c.src[end] == '"' {
			return end + 1
		}
		if m == 0 {
			next += 8
		}
	}
	c.pos = i
	c.endString(next)
	return c.pos
}

func (c *Cursor) scalar() {
	switch c.src[c.pos] {
	case 't':
		c.word("true")
	case 'f':
		c.word("false")
	case 'n':
		c.word("null")
	default:
		c.number()
	}
}

func (c *Cursor) word(w string) {
	remaining := c.src[c.pos:]
	if len(remaining) >= len(w) && remaining[:len(w)] == w {
		c.pos += len(w)
		return
	}
	for i := range min(len(remaining), len(w)) {
		if remaining[i] != w[i] {
			c.fail(Syntax, "no JSON value")
			return
		}
	}
	c.fail(Ended, "")
}

// skipSpace returns the first index from i on at which s has a byte other than white space. It
// returns len(s) if there is none.
func skipSpace(s string, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}

func isSpace(b byte) bool {
	return b <= ' ' && (b == ' ' || b == '\n' || b == '\t' || b == '\r')
}

// MaxDepth is the maximum nesting that encoding/json accepts.
const MaxDepth = 10_000

// Valid reports whether text is one JSON value that is not nested deeper than encoding/json
// allows. It is not recursive: recursive validators crash the process on millions of brackets.
func Valid(text string) bool {
	return stepOver(text).End() == nil
}

// Finite reports whether text is Valid and each of its numbers fits into a float64. Readers turn
// larger numbers such as 1e400 into infinity, or reject them.
func Finite(text string) bool {
	c := stepOver(text)
	return c.End() == nil && !c.infinite
}

func stepOver(text string) *Cursor {
	c := New(text, Limits{Depth: MaxDepth, StringBytes: len(text)})
	c.Skip()
	return c
}
