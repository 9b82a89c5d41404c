// Package shard writes rows to the columns of Parquet files and reads such files back, one page
// of a column at a time. Files may be untrusted or broken.
package shard

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/footer"
)

// File is an open Parquet file.
type File struct {
	*parquet.File
	path string
}

// Open opens a Parquet file of size bytes by reading its footer. path is used in errors.
func Open(r io.ReaderAt, size int64, path string) (*File, error) {
	file, err := footer.Open(r, size)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &File{file, path}, nil
}

// Recover sets err if reading the file at path panicked, since parquet-go panics on some broken
// pages. Callers must defer it directly.
func Recover(path string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("read %s: broken file: %v", path, r)
	}
}

// Fingerprint returns a checksum of a schema. Two files with equal fingerprints have
// the same columns of the same types in the same order.
func Fingerprint(schema *parquet.Schema) string { return digest.SHA256([]byte(schema.String())) }

// CheckSchema returns an error if the file's columns differ from those of schema. The names of
// the schema roots are not compared.
func (f *File) CheckSchema(schema *parquet.Schema) error {
	added, err := f.Added(schema)
	if err == nil && len(added) > 0 {
		err = f.schemaError()
	}
	return err
}

func (f *File) schemaError() error {
	return fmt.Errorf("read %s: its schema is not that of its rows", f.path)
}

// Added returns a null value for each column of schema that the file lacks, if all of these are
// optional and behind the file's own columns: a later version of the program added them. It returns
// an error if the columns differ otherwise. The names of the schema roots are not compared.
func (f *File) Added(schema *parquet.Schema) ([]parquet.Value, error) {
	actual := f.Schema()
	want := parquet.NewSchema(actual.Name(), schema)
	common := strings.TrimSuffix(actual.String(), "}")
	added, ok := strings.CutPrefix(strings.TrimSuffix(want.String(), "}"), common)
	if !ok {
		return nil, f.schemaError()
	}
	var nulls []parquet.Value
	column := len(actual.Columns())
	for line := range strings.Lines(added) {
		if !strings.HasPrefix(line, "\toptional ") || !strings.HasSuffix(line, ";\n") {
			return nil, f.schemaError()
		}
		nulls = append(nulls, parquet.NullValue().Level(0, 0, column+len(nulls)))
	}
	return nulls, nil
}

// VisitRows calls visit for each row of each row group, as many as the footer declares. A row is
// valid only until visit returns.
func (f *File) VisitRows(visit func(parquet.Row) error) error {
	for _, g := range f.RowGroups() {
		if err := f.visitGroup(g, visit); err != nil {
			return err
		}
	}
	return nil
}

// rowBatch is the number of rows that are decoded at a time.
const rowBatch = 16

func (f *File) visitGroup(g parquet.RowGroup, visit func(parquet.Row) error) error {
	rows := g.Rows()
	defer func() { _ = rows.Close() }() // only read

	batch := make([]parquet.Row, rowBatch)
	remaining := g.NumRows()
	for remaining > 0 {
		n, err := rows.ReadRows(batch[:min(rowBatch, remaining)])
		for _, row := range batch[:n] {
			if visitErr := visit(row); visitErr != nil {
				return visitErr
			}
		}
		remaining -= int64(n)
		if n == 0 && (err == nil || errors.Is(err, io.EOF)) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", f.path, err)
		}
	}
	return nil
}

// Sum reads the file, its row groups in parallel, and returns its checksum. The number of rows
// is the one in the footer; the levels of every column confirm it.
func (f *File) Sum() (Sum, error) {
	groups := f.RowGroups()
	sums := make([]Sum, len(groups))
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, g := range groups {
		workers.Go(func() (err error) {
			defer Recover(f.path, &err)
			sums[i], err = f.sumGroup(g)
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return Sum{}, err
	}
	total := NewSum(f.Schema())
	for _, s := range sums {
		total.Append(s)
	}
	return total, nil
}

// sumGroup returns the checksum of the rows of a row group. It reads the columns one after the
// other, so that only one page is in memory.
func (f *File) sumGroup(g parquet.RowGroup) (Sum, error) {
	sum := NewSum(f.Schema())
	sum.Rows = g.NumRows()
	for i, chunk := range g.ColumnChunks() {
		if err := sum.columns[i].addPages(chunk.Pages()); err != nil {
			return sum, fmt.Errorf("read back %s: %w", f.path, err)
		}
	}
	return sum, nil
}
