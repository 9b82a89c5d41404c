// Package columns reads the rows of Parquet files and Arrow streams that nobody
// vouches for, whatever their columns.
package columns

import (
	"fmt"
	"io"
	"strings"
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
