// Package footer opens untrusted Parquet files. The Parquet library trusts the sizes in a file's
// footer, and a request for too much memory would end the program. The footer is therefore
// checked first.
package footer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// tailBytes is the number of bytes after the footer: four bytes with the length of the footer
// and four bytes of magic.
const tailBytes = 8

// maxBytes is the maximum length of a footer in bytes. A file with 10,000 row groups of 50
// columns has a footer of this length.
const maxBytes = 64 << 20

// ErrBroken is returned for a file that is not a Parquet file, or is damaged.
var ErrBroken = errors.New("broken Parquet file")

// ErrCodec is wrapped by the error for a column with a compression that is not supported.
var ErrCodec = errors.New("no columns are read that are compressed with")

// Open opens a Parquet file of size bytes. It does not read page indexes and Bloom filters: they
// declare sizes too, and are not needed to read a file from start to end.
func Open(src io.ReaderAt, size int64) (*parquet.File, error) {
	if err := checkFooter(src, size); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(
		src,
		size,
		parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true),
	)
	if err != nil {
		return nil, err
	}
	return file, checkColumns(src, size, file.Metadata())
}

func checkFooter(src io.ReaderAt, size int64) error {
	if size < tailBytes {
		return fmt.Errorf("%w: it has %d bytes", ErrBroken, size)
	}
	var tail [tailBytes]byte
	if _, err := src.ReadAt(tail[:], size-tailBytes); err != nil {
		return fmt.Errorf("read end of Parquet file: %w", err)
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	if length > min(maxBytes, size-tailBytes) {
		return fmt.Errorf("%w: its footer would have %d bytes", ErrBroken, length)
	}
	b := make([]byte, length)
	if _, err := src.ReadAt(b, size-tailBytes-length); err != nil {
		return fmt.Errorf("read footer of Parquet file: %w", err)
	}
	if err := newWalk(b).check(); err != nil {
		return fmt.Errorf("%w: its footer %w", ErrBroken, err)
	}
	return nil
}

const (
	// maxDepth is the maximum nesting depth of a footer. Parquet needs six levels.
	maxDepth = 32
	// maxItems is the maximum total number of items in all lists of a footer. A column of a row
	// group has about a dozen. The library takes up to 200 bytes for each item.
	maxItems = 8 << 20
)

var (
	errShort = errors.New("ends in the middle of a value")
	errLong  = errors.New("has a list longer than itself")
	errDeep  = errors.New("is nested too deeply")
)

// walk is the state of checking one value in Thrift's compact protocol, such as a Parquet
// footer. Only the structure is checked; the value is not stored.
type walk struct {
	remaining *bytes.Reader
	r         thrift.Reader
	items     int
}

func newWalk(b []byte) *walk {
	remaining := bytes.NewReader(b)
	return &walk{
		remaining: remaining,
		r:         new(thrift.CompactProtocol).NewReader(remaining),
	}
}

func (w *walk) check() error {
	err := w.walkStruct(0)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errShort
	}
	return err
}

func (w *walk) walkStruct(depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	for {
		field, err := w.r.ReadField()
		if err != nil || field.Type == thrift.STOP {
			return err
		}
		if field.Type == thrift.TRUE || field.Type == thrift.FALSE { // the value itself
			continue
		}
		if err := w.walkValue(field.Type, depth); err != nil {
			return err
		}
	}
}

func (w *walk) walkValue(kind thrift.Type, depth int) error {
	switch kind {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		return w.skip(1)
	case thrift.DOUBLE:
		return w.skip(8)
	case thrift.BINARY:
		n, err := w.r.ReadLength()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thrift.LIST, thrift.SET:
		list, err := w.r.ReadList()
		if err != nil {
			return err
		}
		return w.walkItems(list.Size, depth, list.Type)
	case thrift.MAP:
		pairs, err := w.r.ReadMap()
		if err != nil {
			return err
		}
		return w.walkItems(pairs.Size, depth, pairs.Key, pairs.Value)
	case thrift.STRUCT:
		return w.walkStruct(depth + 1)
	default:
		_, err := w.r.ReadInt64()
		return err
	}
}

// walkItems checks n items of the given type, or n key-value pairs if there are two types, and
// moves past them. It returns an error if fewer bytes than items remain, or if there are too many
// items or levels.
func (w *walk) walkItems(
	n int32,
	depth int,
	kinds ...thrift.Type,
) error {
	if w.items += int(n); int(n) > w.remaining.Len() || w.items > maxItems {
		return errLong
	}
	if depth > maxDepth {
		return errDeep
	}
	for range n {
		for _, kind := range kinds {
			if err := w.walkValue(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) skip(n int) error {
	if n > w.remaining.Len() {
		return errShort
	}
	_, err := w.remaining.Seek(int64(n), io.SeekCurrent)
	return err
}
