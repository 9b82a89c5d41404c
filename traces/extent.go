package traces

import (
	"bytes"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// extent finds where one JSON value ends in a text that comes in pieces. It
// only tells brackets from strings; whoever takes the value checks the rest.
type extent struct {
	searched int
	depth    int
	inString bool
	escaped  bool
	// broken is set where no JSON value can go on: a line ends in a string.
	broken bool
}

// end searches on in text, which starts where the value starts, and returns
// the value's length once it is whole. Where the value broke, nothing behind
// the line was searched.
func (e *extent) end(text []byte) (n int, whole bool) {
	for i := e.searched; i < len(text); i++ {
		switch b := text[i]; {
		case e.escaped:
			e.escaped = false
		case e.inString:
			i += e.inside(text[i:])
		case b == '"':
			e.inString = true
		case b == '{' || b == '[':
			e.depth++
		case b == '}' || b == ']':
			if e.depth--; e.depth <= 0 {
				return i + 1, true
			}
		}
		if e.broken {
			e.searched = i
			return 0, false
		}
	}
	e.searched = len(text)
	return 0, false
}

// inside handles the bytes of a string up to the next that matters and returns
// how many came before it.
func (e *extent) inside(s []byte) int {
	n := bytes.IndexAny(s, "\"\\\n")
	if n < 0 {
		return len(s) - 1
	}
	switch s[n] {
	case '"':
		e.inString = false
	case '\\':
		e.escaped = true
	default:
		e.broken = true
	}
	return n
}

// value returns the end of the array or object that starts from bytes ahead;
// false where it does not end within the limit.
func (w *window) value(from int) (to int, ok bool) {
	var e extent
	for {
		ahead := w.ahead()[from:]
		if n, ok := e.end(ahead); ok {
			return from + n, n <= w.limit
		}
		if e.broken || len(ahead) > w.limit || !w.fill() {
			return 0, false
		}
	}
}

// skipValue consumes the array or object that the window starts with, however
// long; false where it does not end.
func (w *window) skipValue() bool {
	var e extent
	for {
		n, ok := e.end(w.ahead())
		if ok {
			w.consume(n)
			return true
		}
		w.consume(e.searched)
		e.searched = 0
		if e.broken || !w.fill() {
			return false
		}
	}
}

// document is value for an object that is written over several lines. It gives
// up where a whole object starts a line: then the file is one of lines, and the
// first of them was cut off.
func (w *window) document() (n int, ok bool) {
	var e extent
	for from := 0; ; {
		to, ended := w.nextLine(from)
		ahead := w.ahead()[:to]
		if from > 0 && isObjectLine(ahead[from:]) {
			return 0, false
		}
		if n, ok = e.end(ahead); ok {
			return n, n <= w.limit
		}
		if e.broken || to > w.limit || ended {
			return 0, false
		}
		from = to
	}
}

// nextLine returns the end of the line that starts from bytes ahead, its line
// feed included, and whether the text ends with it.
func (w *window) nextLine(from int) (to int, ended bool) {
	for searched := from; ; {
		ahead := w.ahead()
		if i := bytes.IndexByte(ahead[searched:], '\n'); i >= 0 {
			return searched + i + 1, false
		}
		searched = len(ahead)
		if searched > w.limit || !w.fill() {
			return searched, true
		}
	}
}

// isObjectLine reports whether a line is an object of its own with at least one
// member: pretty printers never leave one at the start of a line.
func isObjectLine(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r\n")
	if len(line) <= len("{}") || line[0] != '{' {
		return false
	}
	return cursor.Valid(string(line))
}
