package traces

import (
	"bytes"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// extent finds the end of one JSON value in a text that grows. It distinguishes only
// brackets and strings; the decoder checks the syntax.
type extent struct {
	searched int
	depth    int
	inString bool
	escaped  bool
	// broken is set after a line feed in a string, which no JSON value has.
	broken bool
}

// find returns the length of the value at the start of text, if text has its end. A later
// call with a longer text continues the search. It stops at a broken line.
func (e *extent) find(text []byte) (length int, ok bool) {
	for i := e.searched; i < len(text); i++ {
		switch b := text[i]; {
		case e.escaped:
			e.escaped = false
		case e.inString:
			i += e.skipString(text[i:])
		case b == '"':
			e.inString = true
		case b == '{' || b == '[':
			e.depth++
		case b == '}' || b == ']':
			e.depth--
			if e.depth <= 0 {
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

// skipString moves to the next quote, backslash or line feed of a string. It returns the
// number of bytes before it.
func (e *extent) skipString(s []byte) int {
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

// valueEnd returns the end of the array or object at offset start of the window.
// It returns false if the value does not end within the limit.
func (w *window) valueEnd(start int) (end int, ok bool) {
	var e extent
	for {
		unread := w.unread()[start:]
		if length, ok := e.find(unread); ok {
			return start + length, length <= w.limit
		}
		if e.broken || len(unread) > w.limit || !w.fill() {
			return 0, false
		}
	}
}

// skipValue consumes the array or object at the start of the window, of any length. It
// returns false if the value does not end.
func (w *window) skipValue() bool {
	var e extent
	for {
		if length, ok := e.find(w.unread()); ok {
			w.consume(length)
			return true
		}
		w.consume(e.searched)
		e.searched = 0
		if e.broken || !w.fill() {
			return false
		}
	}
}

// multilineEnd returns the end of an object over several lines at the start of the window.
// It returns false if a later line is an object: then each line of the file is a record,
// and the first was cut off.
func (w *window) multilineEnd() (end int, ok bool) {
	var e extent
	lineStart := 0
	for {
		lineEnd, isLast := w.nextLine(lineStart)
		unread := w.unread()[:lineEnd]
		if lineStart > 0 && isObjectLine(unread[lineStart:]) {
			return 0, false
		}
		if length, ok := e.find(unread); ok {
			return length, length <= w.limit
		}
		if e.broken || lineEnd > w.limit || isLast {
			return 0, false
		}
		lineStart = lineEnd
	}
}

// nextLine returns the end of the line at offset start, with its line feed, and whether it
// is the last line of the text or over the limit.
func (w *window) nextLine(start int) (end int, isLast bool) {
	searched := start
	for {
		unread := w.unread()
		if i := bytes.IndexByte(unread[searched:], '\n'); i >= 0 {
			return searched + i + 1, false
		}
		searched = len(unread)
		if searched > w.limit || !w.fill() {
			return searched, true
		}
	}
}

// isObjectLine reports whether a line is an object with at least one member. Indented JSON
// has no such line.
func isObjectLine(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r\n")
	if len(line) <= len("{}") || line[0] != '{' {
		return false
	}
	return cursor.Valid(string(line))
}
