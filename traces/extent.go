package traces

import (
	"bytes"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// extent finds the end of one JSON array or object in a text that is read piece by piece. It
// distinguishes only brackets and strings; the decoder checks the syntax.
type extent struct {
	// searched is the number of bytes that were searched, depth the number of open brackets.
	searched int
	depth    int
	inString bool
	escaped  bool
	// broken is set after a line feed in a string, which no JSON value has.
	broken bool
}

// find searches text for the end of the JSON value at its start and returns the length of the
// value. ok is false if text ends earlier; a call with a longer text then continues the search.
// A line feed within a string ends the search: ok is false and broken is set.
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

// skipString reads s, which starts within a JSON string, up to the next quote, backslash or line
// feed, and sets the state for that byte. It returns the byte's index, or the last index of s if
// there is none.
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

// valueEnd returns the offset at which the array or object at offset start of the unread text ends,
// and reads more text if needed. ok is false if the value does not end within the limit, or if a
// string has a line feed.
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

// skipValue consumes the array or object at the start of the unread text, of any length. It
// returns false if the text ends before the value, or a string has a line feed in it.
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

// multilineEnd returns the length in bytes of an object over several lines at the start of the
// unread text. ok is false if the object does not end within the limit. It is also false if a later
// line is a complete object: then each line of the file is a record, and the first line was cut
// off.
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

// nextLine returns where the line at offset start of the unread text ends, after its line feed. If
// the text ends without a line feed or the line is over the limit, isLast is true.
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

// isObjectLine reports whether a line is a complete JSON object with at least one member that is
// not indented. Lines within an indented JSON value are not.
func isObjectLine(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r\n")
	if len(line) <= len("{}") || line[0] != '{' {
		return false
	}
	return cursor.Valid(string(line))
}
