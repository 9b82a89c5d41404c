package traces

import (
	"bytes"
	"errors"
	"io"
)

// window buffers the part of a text that was read but not yet consumed. The buffer grows to the
// size of the longest record, up to about the limit.
type window struct {
	src   io.Reader
	limit int    // the maximum length of a record
	buf   []byte // buf[start:end] was read and is not yet consumed
	start int
	end   int
	err   error // the error of src, io.EOF at the end
	line  int   // the line of buf[start], from 1
}

// firstWindowBytes is the initial size of the buffer. Most records are smaller (110 KB on
// average).
const firstWindowBytes = 256 << 10

// unread returns the text that was read and is not yet consumed. The slice is valid until
// the next call of fill.
func (w *window) unread() []byte { return w.buf[w.start:w.end] }

func (w *window) consume(n int) {
	w.line += bytes.Count(w.buf[w.start:w.start+n], []byte{'\n'})
	w.start += n
}

// fill reads more text into the window and reports whether it read any.
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

// maxEmptyReads is the number of successive reads that may return neither bytes nor an error, as
// in package bufio.
const maxEmptyReads = 100

// ensureSpace moves the unread text to the start of the buffer, or to a larger buffer, if the
// buffer is full and has no space for the next read.
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

// nextSize returns the size of the next buffer in bytes, which is twice the current size. Before
// the buffer is a little larger than the limit, it grows no further than to that size, which
// suffices to see that a record is too long.
func (w *window) nextSize() int {
	size := max(firstWindowBytes, 2*len(w.buf))
	maxSize := w.limit + firstWindowBytes
	if len(w.buf) < maxSize {
		return min(size, maxSize)
	}
	return size
}

// lineEnd returns the length of the line at the start of the unread text, without its line feed.
// ok is false if the line is longer than the limit.
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

// maxBlankBytes is the maximum number of bytes that skipBlank returns, enough for a line feed
// and a byte order mark. They are part of the checksum of a file with one record.
const maxBlankBytes = 64

// skipBlank consumes white space and byte order marks, and returns the first maxBlankBytes of them.
// more reports whether other text follows.
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

// isByteOrderMarkPrefix reports whether s, all unread text, is empty or an incomplete byte order
// mark.
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

// failure returns the error that stopped reading, or nil if the text ended at io.EOF or can
// still be read.
func (w *window) failure() error {
	if errors.Is(w.err, io.EOF) {
		return nil
	}
	return w.err
}
