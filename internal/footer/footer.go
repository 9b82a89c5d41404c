// Package footer opens Parquet files that nobody vouches for. The reader beneath
// believes the sizes in a file's footer, and memory that it cannot have ends the
// program; so the footer is walked before.
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

const (
	// deepest nesting of a footer: Parquet's own goes to six.
	deepest = 32
	// maxItems in all lists together, some dozen for a column of a row group. The
	// reader takes up to 200 bytes for each.
	maxItems = 8 << 20
)

var (
	errShort = errors.New("ends in the middle of a value")
	errLong  = errors.New("has a list longer than itself")
	errDeep  = errors.New("is nested too deeply")
)

// walk goes through a value of the compact protocol and keeps nothing.
type walk struct {
	rest  *bytes.Reader
	in    thrift.Reader
	items int
}

func newWalk(b []byte) *walk {
	rest := bytes.NewReader(b)
	return &walk{rest: rest, in: new(thrift.CompactProtocol).NewReader(rest)}
}

func (w *walk) whole() error {
	err := w.structure(0)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errShort
	}
	return err
}

func (w *walk) structure(depth int) error {
	if depth > deepest {
		return errDeep
	}
	for {
		field, err := w.in.ReadField()
		if err != nil || field.Type == thrift.STOP {
			return err
		}
		if field.Type == thrift.TRUE || field.Type == thrift.FALSE { // the value itself
			continue
		}
		if err := w.value(field.Type, depth); err != nil {
			return err
		}
	}
}

func (w *walk) value(kind thrift.Type, depth int) error {
	switch kind {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		return w.skip(1)
	case thrift.DOUBLE:
		return w.skip(8)
	case thrift.BINARY:
		n, err := w.in.ReadLength()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thrift.LIST, thrift.SET:
		list, err := w.in.ReadList()
		if err != nil {
			return err
		}
		return w.times(list.Size, depth, list.Type)
	case thrift.MAP:
		pairs, err := w.in.ReadMap()
		if err != nil {
			return err
		}
		return w.times(pairs.Size, depth, pairs.Key, pairs.Value)
	case thrift.STRUCT:
		return w.structure(depth + 1)
	default:
		_, err := w.in.ReadInt64()
		return err
	}
}

// times walks n items of the given types; none is shorter than a byte.
func (w *walk) times(n int32, depth int, kinds ...thrift.Type) error {
	if w.items += int(n); int(n) > w.rest.Len() || w.items > maxItems {
		return errLong
	}
	if depth > deepest {
		return errDeep
	}
	for range n {
		for _, kind := range kinds {
			if err := w.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) skip(n int) error {
	if n > w.rest.Len() {
		return errShort
	}
	_, err := w.rest.Seek(int64(n), io.SeekCurrent)
	return err
}
