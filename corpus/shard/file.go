// Package shard reads Parquet files that anybody may have made or broken, a page
// of each column at a time.
package shard

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/footer"
)

// File is an opened Parquet file.
type File struct {
	*parquet.File
	path string
}

// Open reads the footer of a file of that size; errors name its path.
func Open(f io.ReaderAt, size int64, path string) (*File, error) {
	file, err := footer.Open(f, size)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &File{file, path}, nil
}

// Recover turns a panic while a file is read into an error: parquet-go panics on
// some broken pages. It must be deferred itself.
func Recover(path string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("read %s: broken file: %v", path, r)
	}
}

// Fingerprint names a schema: two files with the same fingerprint have the
// same columns of the same types in the same order.
func Fingerprint(schema *parquet.Schema) string { return digest.SHA256([]byte(schema.String())) }

// In refuses a file of other columns than the schema's. The name of the root is
// no part of what a row is.
func (f *File) In(schema *parquet.Schema) error {
	own := f.Schema()
	if Fingerprint(own) != Fingerprint(parquet.NewSchema(own.Name(), schema)) {
		return fmt.Errorf("read %s: its schema is not that of its rows", f.path)
	}
	return nil
}

// Rows visits as many rows as the footer says that each group has. A row is valid
// only within its visit.
func (f *File) Rows(visit func(parquet.Row) error) error {
	for _, g := range f.RowGroups() {
		if err := f.group(g, visit); err != nil {
			return err
		}
	}
	return nil
}

// group visits those of one group.
func (f *File) group(g parquet.RowGroup, visit func(parquet.Row) error) error {
	in := g.Rows()
	defer func() { _ = in.Close() }() // it was only read
	batch, seen := make([]parquet.Row, rowBatch), int64(0)
	for seen < g.NumRows() {
		n, err := in.ReadRows(batch[:min(rowBatch, g.NumRows()-seen)])
		for _, row := range batch[:n] {
			if failed := visit(row); failed != nil {
				return failed
			}
		}
		if seen += int64(n); n == 0 && (err == nil || errors.Is(err, io.EOF)) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", f.path, err)
		}
	}
	return nil
}

// rowBatch is how many rows are decoded at a time.
const rowBatch = 16

// Sum sums up the whole file, its row groups side by side. Rows are what the
// footer says that it has, and what the levels of every column tell.
func (f *File) Sum() (Sum, error) {
	groups := f.RowGroups()
	sums := make([]Sum, len(groups))
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, g := range groups {
		all.Go(func() (err error) {
			defer Recover(f.path, &err)
			sums[i] = NewSum(f.Schema())
			sums[i].Rows = g.NumRows()
			for n, chunk := range g.ColumnChunks() { // column by column, which needs the memory of one page at a time
				if err := sums[i].columns[n].read(chunk.Pages()); err != nil {
					return fmt.Errorf("read back %s: %w", f.path, err)
				}
			}
			return nil
		})
	}
	err := all.Wait()
	sum := NewSum(f.Schema())
	for _, s := range sums {
		sum.Join(s)
	}
	return sum, err
}
