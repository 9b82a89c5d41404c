package arena

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Line is a line of text that holds more than blanks.
type Line struct {
	// Number counts all lines from 1, blank ones too.
	Number int
	// Offset is how many bytes stand before Text.
	Offset int64
	// Text is the line without the blanks around it. Its memory is used again
	// for the next line.
	Text []byte
}

// Lines gives the lines of r, of at most limit bytes each. The last pair holds
// the error that ended the reading, if one did; a longer line is one.
func Lines(r io.Reader, limit int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := &lineReader{in: bufio.NewReaderSize(r, 64<<10), limit: limit}
		for more := true; more; {
			at := in.offset
			text, err := in.next()
			if more = !errors.Is(err, io.EOF); more && err != nil {
				yield(Line{Number: in.number}, fmt.Errorf("line %d: %w", in.number, err))
				return
			}
			left := bytes.TrimLeft(text, " \t\r\n")
			l := Line{Number: in.number, Offset: at + int64(len(text)-len(left)), Text: bytes.TrimRight(left, " \t\r\n")}
			if len(l.Text) > 0 && !yield(l, nil) {
				return
			}
		}
	}
}

type lineReader struct {
	in     *bufio.Reader
	limit  int
	line   []byte
	number int
	offset int64
}

// next returns the next line with its end; the last one comes with io.EOF.
func (r *lineReader) next() ([]byte, error) {
	r.number++
	r.line = r.line[:0]
	err := bufio.ErrBufferFull
	for errors.Is(err, bufio.ErrBufferFull) && len(r.line) <= r.limit {
		var part []byte
		part, err = r.in.ReadSlice('\n')
		r.line = append(r.line, part...)
	}
	r.offset += int64(len(r.line))
	if len(r.line) > r.limit {
		err = fmt.Errorf("longer than %d bytes", r.limit)
	}
	return r.line, err
}
