// Package columns reads the rows of Parquet files and Arrow streams that nobody
// vouches for, whatever their columns.
package columns

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// maxRowBytes is the longest row that is read, as JSON.
const maxRowBytes = 64 << 20

const parquetMagic = "PAR1"

// MagicBytes is how many first bytes tell files of columns from others.
const MagicBytes = 4

// Holds reports whether a file that begins so is one of columns.
func Holds(magic string) bool {
	return strings.HasPrefix(magic, parquetMagic) || strings.HasPrefix(magic, arrowFile) || strings.HasPrefix(magic, arrowStream)
}

// Each calls yield for every row of a file of size bytes, in order, as a JSON
// object. Its errors are those of a file that is damaged or larger than any that is
// read, and yield's own.
func Each(in io.ReaderAt, size int64, yield func(text string) error) (err error) {
	defer recovered(&err)
	var magic [MagicBytes]byte
	if _, err := in.ReadAt(magic[:], 0); err != nil {
		return fmt.Errorf("read first bytes: %w", err)
	}
	switch string(magic[:]) {
	case parquetMagic:
		return eachParquet(in, size, yield)
	case arrowFile:
		return eachArrow(io.NewSectionReader(in, arrowFileHead, size-arrowFileHead), yield)
	default:
		return eachArrow(io.NewSectionReader(in, 0, size), yield)
	}
}

// recovered turns a panic of the column readers, which check less than they
// should, into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("read columns: damaged file: %v", p)
	}
}

// The first bytes of Arrow's two containers: a stream, which is what datasets
// saves to disk, and a file, which is a stream between a head of eight bytes and
// a table of contents that is not needed.
const (
	arrowStream   = "\xff\xff\xff\xff"
	arrowFile     = "ARRO"
	arrowFileHead = 8
)

var (
	// errArrow says that an Arrow stream is damaged, or larger than any that is read.
	errArrow   = errors.New("broken Arrow stream")
	errLongRow = fmt.Errorf("longer than %d bytes", maxRowBytes)
)

// eachArrow reads an Arrow stream, each row as JSON. A batch is held whole: a
// gigabyte at most.
func eachArrow(in *io.SectionReader, yield func(text string) error) error {
	r, mem, err := openArrow(in)
	if err != nil {
		return fmt.Errorf("open arrow: %w", err)
	}
	defer r.Release()
	for line := 0; r.Next(); {
		batch := r.RecordBatch()
		if err := mem.check(batch); err != nil {
			return fmt.Errorf("read arrow rows: %w", err)
		}
		for i := range int(batch.NumRows()) {
			text, err := rowText(batch, i)
			if err != nil {
				return fmt.Errorf("render arrow row %d: %w", line, err)
			}
			if err := yield(text); err != nil {
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

// rowText is a row of a batch as a JSON object; of equal names the last counts.
func rowText(batch arrow.RecordBatch, i int) (string, error) {
	row := make(map[string]any, batch.NumCols())
	for at, f := range batch.Schema().Fields() {
		row[f.Name] = batch.Column(at).GetOneForMarshal(i)
	}
	b, err := json.Marshal(row)
	if err == nil && len(b) > maxRowBytes {
		err = errLongRow
	}
	return string(b), err
}
