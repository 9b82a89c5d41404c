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
		in := bufio.NewReaderSize(r, 64<<10)
		var whole []byte
		var err error
		for number, at := 1, int64(0); !errors.Is(err, io.EOF); number++ {
			if whole, err = readLine(in, whole[:0], limit); err != nil && !errors.Is(err, io.EOF) {
				yield(Line{Number: number}, fmt.Errorf("line %d: %w", number, err))
				return
			}
			left := bytes.TrimLeft(whole, " \t\r\n")
			l := Line{Number: number, Offset: at + int64(len(whole)-len(left)), Text: bytes.TrimRight(left, " \t\r\n")}
			if len(l.Text) > 0 && !yield(l, nil) {
				return
			}
			at += int64(len(whole))
		}
	}
}

// readLine appends the next line with its end to line; the last one comes with io.EOF.
func readLine(in *bufio.Reader, line []byte, limit int) ([]byte, error) {
	err := bufio.ErrBufferFull
	for errors.Is(err, bufio.ErrBufferFull) && len(line) <= limit {
		var part []byte
		part, err = in.ReadSlice('\n')
		line = append(line, part...)
	}
	if len(line) > limit {
		err = fmt.Errorf("longer than %d bytes", limit)
	}
	return line, err
}
