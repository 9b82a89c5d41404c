package cursor

import (
	"math/bits"
)

// Skip steps over one value of any type, checking all of it. It is a loop and
// not a recursion: most of a trace is stepped over.
func (c *Cursor) Skip() {
	c.nest = c.nest[:0]
	i := c.pos
	for {
		var open bool
		if i, open = c.enterValue(i); !open {
			if i, open = c.leaveValue(i); !open {
				break
			}
		}
	}
	if c.err == nil {
		c.pos = i
	}
}

// enterValue steps over a value at i that holds no other, or to the first
// value in it; open tells which.
func (c *Cursor) enterValue(i int) (next int, open bool) {
	if i >= len(c.src) {
		return c.failAt(i, Ended, ""), false
	}
	switch c.src[i] {
	case '"':
		return c.quoted(i), false
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

// leaveValue goes on behind a value: to the next value beside it, or out of as
// many arrays and objects as end here. open is false behind the outermost.
func (c *Cursor) leaveValue(i int) (next int, open bool) {
	for c.err == nil && len(c.nest) > 0 {
		i = spaced(c.src, i)
		closing := c.nest[len(c.nest)-1]
		switch {
		case i >= len(c.src):
			return c.failAt(i, Ended, ""), false
		case c.src[i] == closing:
			i = c.pop(i)
		case c.src[i] != ',':
			return c.failAt(i, Syntax, "no comma between members"), false
		case closing == '}':
			return c.member(spaced(c.src, i+1))
		default:
			return spaced(c.src, i+1), true
		}
	}
	return i, false
}

func (c *Cursor) member(i int) (next int, open bool) {
	if c.pos = i; i >= len(c.src) || c.src[i] != '"' {
		c.expected('"')
		return len(c.src), false
	}
	if i = spaced(c.src, c.quoted(i)); i >= len(c.src) || c.src[i] != ':' {
		c.pos = i
		c.expected(':')
		return len(c.src), false
	}
	return spaced(c.src, i+1), c.err == nil
}

func (c *Cursor) push(i int, closing byte) int {
	if c.depth+len(c.nest) >= c.limits.Depth {
		return c.failAt(i, TooDeep, "nested deeper than the limit")
	}
	c.nest = append(c.nest, closing)
	return spaced(c.src, i+1)
}

func (c *Cursor) pop(i int) int {
	c.nest = c.nest[:len(c.nest)-1]
	return i + 1
}

// quoted steps over the string at i. Short plain ones, such as most keys, need
// one look.
func (c *Cursor) quoted(i int) int {
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
	rest := c.src[c.pos:]
	if len(rest) >= len(w) && rest[:len(w)] == w {
		c.pos += len(w)
		return
	}
	for i := range min(len(rest), len(w)) {
		if rest[i] != w[i] {
			c.fail(Syntax, "no JSON value")
			return
		}
	}
	c.fail(Ended, "")
}

// spaced is the first index from i that holds no white space, or len(s).
func spaced(s string, i int) int {
	for i < len(s) && s[i] <= ' ' && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// MaxDepth is the deepest nesting of encoding/json.
const MaxDepth = 10_000

// Valid reports whether text is one JSON value, nested no deeper than
// encoding/json allows. It needs no stack: validators that call themselves for
// every bracket end the process on a string of some millions of them.
func Valid(text string) bool {
	return stepOver(text).End() == nil
}

// Finite reports whether text is Valid, and every number in it one that a float64
// holds: of 1e400 readers make infinity, or an error.
func Finite(text string) bool {
	c := stepOver(text)
	return c.End() == nil && !c.infinite
}

func stepOver(text string) *Cursor {
	c := New(text, Limits{Depth: MaxDepth, StringBytes: len(text)})
	c.Skip()
	return c
}
