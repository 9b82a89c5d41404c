package traces

import (
	"bytes"
	"errors"
	"io"
)

// window is the part of a text that is in memory. It moves forward and grows to the size of
// the longest record, but not beyond the limit.
type window struct {
	src   io.Reader
	limit int    // the maximum length of a record
	buf   []byte // buf[start:end] was read and is not yet consumed
	start int
	end   int
	err   error // the error of src, io.EOF at the end
	line  int   // the line of buf[start], from 1
}

// firstWindowBytes is more than most records have (110 KB on average).
const firstWindowBytes = 256 << 10

// unread returns the text that was read and is not yet consumed. The slice is valid until
// the next call of fill.
func (w *window) unread() []byte { return w.buf[w.start:w.end] }

func (w *window) consume(n int) {
	w.line += bytes.Count(w.buf[w.start:w.start+n], []byte{'\n'})
	w.start += n
}

// fill appends more text to the window and reports whether there was any.
func (w *window) fill() bool {
	if w.err != nil {
		return false
	}
	w.ensureSpace()
	for range maxEmptyReads {
		n, err := w.src.Read(w.buf[w.end:])
		w.end += n
		w.err = err
		if n > 0 || err != nil {
			return n > 0
		}
	}
	w.err = io.ErrNoProgress
	return false
}

// maxEmptyReads is how often a reader may return no bytes and no error, as in bufio.
const maxEmptyReads = 100

// ensureSpace moves the text to the start of the buffer, or to a larger buffer, if the
// buffer is full.
func (w *window) ensureSpace() {
	if w.end < len(w.buf) {
		return
	}
	length := w.end - w.start
	if w.start > 0 && length <= len(w.buf)/2 {
		copy(w.buf, w.unread())
	} else {
		grown := make([]byte, w.nextSize())
		copy(grown, w.unread())
		w.buf = grown
	}
	w.start = 0
	w.end = length
}

// nextSize returns the size of the next buffer. A buffer a little larger than the limit
// suffices to see that a record is too long.
func (w *window) nextSize() int {
	size := max(firstWindowBytes, 2*len(w.buf))
	maxSize := w.limit + firstWindowBytes
	if len(w.buf) < maxSize {
		return min(size, maxSize)
	}
	return size
}

// lineEnd returns the length of the next line without its line feed. It returns false if
// the line is over the limit.
func (w *window) lineEnd() (length int, ok bool) {
	length, isLast := w.nextLine(0)
	if !isLast {
		length -= len("\n")
	}
	return length, length <= w.limit
}

func (w *window) skipLine() {
	for {
		unread := w.unread()
		if i := bytes.IndexByte(unread, '\n'); i >= 0 {
			w.consume(i + 1)
			return
		}
		w.consume(len(unread))
		if !w.fill() {
			return
		}
	}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// maxBlankBytes is the maximum length of white space that skipBlank returns. It is part of
// the checksum of a file with one record: a line feed, a byte order mark.
const maxBlankBytes = 64

// skipBlank consumes white space and byte order marks. It returns the first maxBlankBytes
// of them and whether text follows.
func (w *window) skipBlank() (blank []byte, more bool) {
	for {
		unread := w.unread()
		n := blankPrefix(unread)
		if len(blank) < maxBlankBytes {
			blank = append(blank, unread[:min(n, maxBlankBytes-len(blank))]...)
		}
		w.consume(n)
		if !isByteOrderMarkPrefix(unread[n:]) {
			return blank, true
		}
		if !w.fill() {
			return blank, w.start < w.end
		}
	}
}

// isByteOrderMarkPrefix reports whether s may be the start of a byte order mark.
func isByteOrderMarkPrefix(s []byte) bool {
	return len(s) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, s)
}

// blankPrefix returns the length of the white space and byte order marks at the start of s.
func blankPrefix(s []byte) int {
	n := 0
	for n < len(s) {
		switch {
		case s[n] == ' ', s[n] == '\t', s[n] == '\r', s[n] == '\n':
			n++
		case bytes.HasPrefix(s[n:], byteOrderMark):
			n += len(byteOrderMark)
		default:
			return n
		}
	}
	return n
}

// failed reports whether reading stopped at an error other than io.EOF.
func (w *window) failed() bool { return w.failure() != nil }

// failure returns the error that stopped the text before its end, or nil.
func (w *window) failure() error {
	if errors.Is(w.err, io.EOF) {
		return nil
	}
	return w.err
}
