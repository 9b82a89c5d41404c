package footer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/trajectory-arena/arena/internal/wrong"
)

func checkColumns(src io.ReaderAt, size int64, m *format.FileMetaData) error {
	for _, g := range m.RowGroups {
		for i := range g.Columns {
			c := &g.Columns[i].MetaData
			if err := checkColumn(src, size, c); err != nil {
				return fmt.Errorf("column %s: %w", strings.Join(c.PathInSchema, "."), err)
			}
		}
	}
	return nil
}

func checkColumn(src io.ReaderAt, size int64, c *format.ColumnMetaData) error {
	// LZ4 is refused since its decoder doubles its memory until it can read a page, which never
	// happens for a broken page.
	if c.Codec == format.Lz4Raw {
		return fmt.Errorf("%w LZ4: write it with zstd or snappy", ErrCodec)
	}
	start := cmp.Or(c.DictionaryPageOffset, c.DataPageOffset)
	if start < 0 || c.TotalCompressedSize < 0 || start > size-c.TotalCompressedSize {
		return fmt.Errorf("%w: it lies outside of the file", ErrBroken)
	}
	p := pages{src: src, offset: start, end: start + c.TotalCompressedSize}
	for values := int64(0); p.offset < p.end; {
		header, err := p.next()
		if err != nil {
			return err
		}
		if values += valuesIn(header); values > c.NumValues {
			return fmt.Errorf("%w: a page has more values than its column", ErrBroken)
		}
	}
	return nil
}

func valuesIn(h *format.PageHeader) int64 {
	switch {
	case h.DataPageHeader.Valid:
		return int64(h.DataPageHeader.V.NumValues)
	case h.DataPageHeaderV2.Valid:
		return int64(h.DataPageHeaderV2.V.NumValues)
	}
	return 0
}

// pages is a reader of the page headers of one column of a row group.
type pages struct {
	src         io.ReaderAt
	offset, end int64
	head        []byte
}

// The sizes in bytes in which a page header is read: first usualHead, and at most longestHead. A
// header has about a dozen bytes, and more if it contains the minimum and the maximum value of
// its page.
const (
	usualHead   = 1 << 10
	longestHead = 16 << 20
)

func (p *pages) next() (*format.PageHeader, error) {
	for maxBytes := int64(usualHead); ; maxBytes *= 16 {
		b, err := p.peek(min(maxBytes, p.end-p.offset))
		if err != nil {
			return nil, err
		}
		w := newWalk(b)
		err = w.check()
		if errors.Is(err, errShort) && maxBytes < min(longestHead, p.end-p.offset) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%w: the header of a page %w", ErrBroken, err)
		}
		return p.parse(b[:len(b)-w.remaining.Len()])
	}
}

func (p *pages) peek(n int64) ([]byte, error) {
	if int64(cap(p.head)) < n {
		p.head = make([]byte, n)
	}
	_, err := p.src.ReadAt(p.head[:n], p.offset)
	return p.head[:n], wrong.Wrap("read header of page", err)
}

func (p *pages) parse(head []byte) (*format.PageHeader, error) {
	var h format.PageHeader
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), head, &h); err != nil {
		return nil, fmt.Errorf("%w: the header of a page: %w", ErrBroken, err)
	}
	p.offset += int64(len(head)) + int64(h.CompressedPageSize)
	if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 || valuesIn(&h) < 0 || p.offset > p.end {
		return nil, fmt.Errorf("%w: a page ends behind its column", ErrBroken)
	}
	return &h, nil
}
