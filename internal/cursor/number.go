package cursor

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/trajectory-arena/arena"
)

// Int reads a number that is an integer within int64, in any notation. It skips any other value
// and returns false.
func (c *Cursor) Int() (int64, bool) {
	if c.Kind() != arena.Number {
		c.SkipMistyped()
		return 0, false
	}
	text := string(c.Raw())
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		c.mistyped = arena.Raw(text)
		return 0, false
	}
	return int64(f), true
}

// Float reads a number as the nearest finite float64. It skips any other value and returns
// false.
func (c *Cursor) Float() (float64, bool) {
	if c.Kind() != arena.Number {
		c.SkipMistyped()
		return 0, false
	}
	f, err := strconv.ParseFloat(string(c.Raw()), 64)
	return f, err == nil
}

// Bool reads true or false. It skips any other value and returns false.
func (c *Cursor) Bool() bool {
	value := c.Raw()
	if kind := value.Kind(); kind != arena.Bool {
		c.mistyped = value
	}
	return value == "true"
}

// number skips one number by the grammar of RFC 8259. It records whether the number exceeds a
// float64.
func (c *Cursor) number() {
	start := c.pos
	if c.isAt('-') {
		c.pos++
	}
	switch {
	case c.isAt('0'):
		c.pos++
	case !c.digits():
		return
	}
	if c.isAt('.') {
		c.pos++
		if !c.digits() {
			return
		}
	}
	exponent := c.isAt('e') || c.isAt('E')
	if exponent {
		c.pos++
		if c.isAt('+') || c.isAt('-') {
			c.pos++
		}
		c.digits()
	}
	if exponent || c.pos-start > maxDigits {
		_, err := strconv.ParseFloat(c.src[start:c.pos], 64)
		c.infinite = c.infinite || errors.Is(err, strconv.ErrRange)
	}
}

// maxDigits is the length in bytes up to which a number without an exponent certainly fits into
// a float64, whose maximum is 1.8e308.
const maxDigits = 308

func (c *Cursor) isAt(b byte) bool { return c.pos < len(c.src) && c.src[c.pos] == b }

func (c *Cursor) digits() bool {
	start := c.pos
	for c.pos < len(c.src) && c.src[c.pos]-'0' <= 9 {
		c.pos++
	}
	if c.pos > start {
		return true
	}
	if c.pos >= len(c.src) {
		c.fail(Ended, "")
	} else {
		c.fail(Syntax, "no JSON value")
	}
	return false
}

// Fault is the kind of an error in a JSON text.
type Fault uint8

// The kinds of errors.
const (
	// Syntax means that JSON does not allow a byte.
	Syntax Fault = iota + 1
	// Ended means that the text ends between two tokens or inside a word, so that more lines
	// might complete it.
	Ended
	// EndedInString means that the text ends inside a string, which no further line can
	// complete.
	EndedInString
	// TooDeep, StringTooLong and TooMany mean that the text exceeds a limit.
	TooDeep
	StringTooLong
	TooMany
)

// Error is an error in a JSON text. At is its offset in bytes, counted from 0.
type Error struct {
	Fault Fault
	At    int
	what  string
}

// Error returns a description of the error. It never quotes the text.
func (e *Error) Error() string {
	if e.Fault == Ended || e.Fault == EndedInString {
		return fmt.Sprintf("text ends early at byte %d", e.At)
	}
	return fmt.Sprintf("%s at byte %d", e.what, e.At)
}

func (c *Cursor) fail(f Fault, what string) {
	if c.err == nil {
		c.err = &Error{
			Fault: f,
			At:    min(c.pos, len(c.src)),
			what:  what,
		}
	}
	c.pos = len(c.src)
}

func (c *Cursor) failAt(i int, f Fault, what string) int {
	if c.err == nil {
		c.pos = i
		c.fail(f, what)
	}
	return len(c.src)
}

func (c *Cursor) expected(want byte) {
	if c.pos >= len(c.src) {
		c.fail(Ended, "")
		return
	}
	c.fail(Syntax, fmt.Sprintf("no %q", want))
}
