// Package footer opens Parquet files that nobody vouches for. The reader beneath
// believes the sizes in a file's footer, and memory that it cannot have ends the
// program; so the footer is walked before.
package footer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// The end of a file: the footer, its length in four bytes, four bytes of magic.
const tailBytes = 8

// maxBytes is the longest footer that is read: that of a file of 10,000 row
// groups of 50 columns.
const maxBytes = 64 << 20

// ErrBroken says that a file is no Parquet file, or a damaged one.
var ErrBroken = errors.New("broken Parquet file")

// ErrCodec says that a column is compressed in a way that is not read.
var ErrCodec = errors.New("no columns are read that are compressed with")

// Open opens a file of size bytes. Its page indexes and Bloom filters are not
// read: they have sizes of their own, and a file is read from its start to its
// end here.
func Open(in io.ReaderAt, size int64) (*parquet.File, error) {
	if err := check(in, size); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(in, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	return file, checkColumns(in, size, file.Metadata())
}

// check holds the sizes in the footer against the bytes that are there.
func check(in io.ReaderAt, size int64) error {
	if size < tailBytes {
		return fmt.Errorf("%w: it has %d bytes", ErrBroken, size)
	}
	var tail [tailBytes]byte
	if _, err := in.ReadAt(tail[:], size-tailBytes); err != nil {
		return fmt.Errorf("read end of Parquet file: %w", err)
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	if length > min(maxBytes, size-tailBytes) {
		return fmt.Errorf("%w: its footer would have %d bytes", ErrBroken, length)
	}
	b := make([]byte, length)
	if _, err := in.ReadAt(b, size-tailBytes-length); err != nil {
		return fmt.Errorf("read footer of Parquet file: %w", err)
	}
	if err := newWalk(b).whole(); err != nil {
		return fmt.Errorf("%w: its footer %w", ErrBroken, err)
	}
	return nil
}
