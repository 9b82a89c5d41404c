package rows

import (
	"fmt"
	"io"
	"os"
)

// The first bytes of Arrow's two containers: a stream, which is what datasets
// saves to disk, and a file, which is a stream between a head of eight bytes and
// a table of contents that is not needed.
const (
	arrowStream   = "\xff\xff\xff\xff"
	arrowFile     = "ARRO"
	arrowFileHead = 8
)

// The text of all rows of an Arrow file may be this long, or so many times as long
// as the file where that is more: as dense as gzip can be. A dictionary, or lists
// that share their elements, could make a small file's rows go on without end.
const (
	arrowTextBytes   = 16 << 30
	arrowTextDensity = 1000
)

// eachArrow reads an Arrow stream of any schema, which begins head bytes into a
// file, each row as JSON. A batch is held whole: a gigabyte at most.
func eachArrow(f *os.File, head int64, stem string, yield func(Row) error) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open arrow: %w", err)
	}
	return eachOfStream(io.NewSectionReader(f, head, info.Size()-head), stem, yield)
}

func eachOfStream(in *io.SectionReader, stem string, yield func(Row) error) error {
	r, mem, err := openArrow(in)
	if err != nil {
		return fmt.Errorf("open arrow: %w", err)
	}
	defer r.Release()
	t := rendering{members: map[fielded][]member{}}
	line, left := 0, max(arrowTextBytes, arrowTextDensity*in.Size())
	for r.Next() {
		if err := mem.check(r.RecordBatch()); err != nil {
			return fmt.Errorf("read arrow rows: %w", err)
		}
		for i := range int(r.RecordBatch().NumRows()) {
			text, err := t.row(r.RecordBatch(), i)
			if left -= int64(len(text)); err == nil && left < 0 {
				err = errDense
			}
			if err != nil {
				return fmt.Errorf("render arrow row %d: %w", line, err)
			}
			if err := yield(Row{JSON: text, Stem: stem, Line: line}); err != nil {
				return err
			}
			line++
		}
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("read arrow rows: %w", err)
	}
	return nil
}

// recovered turns a panic of the column readers, which check less than they
// should, into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("read columns: damaged file: %v", p)
	}
}
