package cursor

import "fmt"

// Fault is what can be wrong with a text.
type Fault uint8

// The faults of a text.
const (
	// Syntax is a byte that JSON does not allow.
	Syntax Fault = iota + 1
	// Ended is a text that stops between two tokens or inside a word: more
	// lines might complete it.
	Ended
	// EndedInString is a text that stops inside a string, which no further
	// line can complete.
	EndedInString
	// TooDeep, StringTooLong and TooMany are texts beyond the limits.
	TooDeep
	StringTooLong
	TooMany
)

// Error says what is wrong with a text and at which byte, from 0.
type Error struct {
	Fault Fault
	At    int
	what  string
}

// Error gives the fault in words; it never quotes the text.
func (e *Error) Error() string {
	if e.Fault == Ended || e.Fault == EndedInString {
		return fmt.Sprintf("text ends early at byte %d", e.At)
	}
	return fmt.Sprintf("%s at byte %d", e.what, e.At)
}

func (c *Cursor) fail(f Fault, what string) {
	if c.err == nil {
		c.err = &Error{Fault: f, At: min(c.pos, len(c.src)), what: what}
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
