package arena

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Line is one line of text that is not blank.
type Line struct {
	// Number counts all lines from 1, blank ones too.
	Number int
	// Offset is the number of bytes before Text.
	Offset int64
	// Text is the line without surrounding blanks. It is overwritten by the next line.
	Text []byte
}

// Lines returns the lines of r, of at most limit bytes each. The last pair holds the error
// that ended reading, if any; a longer line is such an error.
func Lines(r io.Reader, limit int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		const blanks = " \t\r\n"
		in := bufio.NewReaderSize(r, 64<<10)
		var line []byte
		var offset int64
		var err error

		for number := 1; !errors.Is(err, io.EOF); number++ {
			line, err = readLine(in, line[:0], limit)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Line{Number: number}, fmt.Errorf("line %d: %w", number, err))
				return
			}

			text := bytes.TrimLeft(line, blanks)
			l := Line{
				Number: number,
				Offset: offset + int64(len(line)-len(text)),
				Text:   bytes.TrimRight(text, blanks),
			}
			if len(l.Text) > 0 && !yield(l, nil) {
				return
			}
			offset += int64(len(line))
		}
	}
}

// readLine appends the next line of in, with its newline, to line and returns the result. The error
// is io.EOF at the end of the input, where the result may be empty or lack a newline, and another
// one if the line is longer than limit bytes.
func readLine(
	in *bufio.Reader,
	line []byte,
	limit int,
) ([]byte, error) {
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
