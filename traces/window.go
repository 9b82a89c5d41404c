package traces

import (
	"bytes"
	"errors"
	"io"
)

// window is the part of a text that is in memory: it slides forward and grows
// to the longest record, never beyond the limit.
type window struct {
	src   io.Reader
	limit int
	buf   []byte // buf[from:to] is what was read and not yet consumed
	from  int
	to    int
	err   error // why src gives no more; io.EOF at the end
	line  int   // the line that buf[from] is on, from 1
}

// firstWindowBytes holds most records (110 KB on average) at once.
const firstWindowBytes = 256 << 10

// ahead is what was read and not yet consumed.
func (w *window) ahead() []byte { return w.buf[w.from:w.to] }

func (w *window) consume(n int) {
	w.line += bytes.Count(w.buf[w.from:w.from+n], []byte{'\n'})
	w.from += n
}

// fill reads more behind ahead and reports whether there was more. The slices of
// earlier calls of ahead are void.
func (w *window) fill() bool {
	if w.err != nil {
		return false
	}
	w.makeRoom()
	for range maxEmptyReads {
		n, err := w.src.Read(w.buf[w.to:])
		w.to += n
		w.err = err
		if n > 0 || err != nil {
			return n > 0
		}
	}
	w.err = io.ErrNoProgress
	return false
}

// maxEmptyReads is how often a reader may give nothing, as bufio has it.
const maxEmptyReads = 100

func (w *window) makeRoom() {
	if w.to < len(w.buf) {
		return
	}
	kept := w.to - w.from
	if w.from > 0 && kept <= len(w.buf)/2 {
		copy(w.buf, w.ahead())
	} else {
		// The limit and a little is enough to see that a record is beyond it.
		size, most := max(firstWindowBytes, 2*len(w.buf)), w.limit+firstWindowBytes
		if len(w.buf) < most {
			size = min(size, most)
		}
		grown := make([]byte, size)
		copy(grown, w.ahead())
		w.buf = grown
	}
	w.from, w.to = 0, kept
}

// lineEnd finds the end of the next line: the number of bytes before its line
// feed, or all that is left. ok is false if the line is beyond the limit.
func (w *window) lineEnd() (n int, ok bool) {
	n, ended := w.nextLine(0)
	if !ended {
		n -= len("\n")
	}
	return n, n <= w.limit
}

func (w *window) skipLine() {
	for {
		ahead := w.ahead()
		if i := bytes.IndexByte(ahead, '\n'); i >= 0 {
			w.consume(i + 1)
			return
		}
		w.consume(len(ahead))
		if !w.fill() {
			return
		}
	}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// keptBlank is how much white space around a lone record counts as part of its
// file: a line feed, a byte order mark.
const keptBlank = 64

// skipBlank consumes white space and byte order marks, returns the first of
// it, and reports whether anything else follows.
func (w *window) skipBlank() (blank []byte, more bool) {
	for {
		ahead := w.ahead()
		n := blankPrefix(ahead)
		if len(blank) < keptBlank {
			blank = append(blank, ahead[:min(n, keptBlank-len(blank))]...)
		}
		w.consume(n)
		if rest := ahead[n:]; len(rest) >= len(byteOrderMark) || len(rest) > 0 && !bytes.HasPrefix(byteOrderMark, rest) {
			return blank, true
		}
		if !w.fill() {
			return blank, w.from < w.to
		}
	}
}

func blankPrefix(s []byte) (n int) {
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

func (w *window) stopped() bool { return w.failure() != nil }

// failure is why the text stopped before its end; nil at its end.
func (w *window) failure() error {
	if errors.Is(w.err, io.EOF) {
		return nil
	}
	return w.err
}
