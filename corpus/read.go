package corpus

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/internal/footer"
)

// readBack reads a whole file in the given schema and sums it up, its row
// groups side by side. Rows are what the file's footer says that it has, and
// what the levels of every column tell.
func readBack(fsys FS, path string, schema *parquet.Schema) (sum checksum, err error) {
	sum = newChecksum(schema)
	err = withGroups(fsys, path, schema, func(groups []parquet.RowGroup) error {
		sums := make([]checksum, len(groups))
		var all errgroup.Group
		all.SetLimit(runtime.GOMAXPROCS(0))
		for i, g := range groups {
			all.Go(func() (err error) {
				defer broken(path, &err)
				sums[i] = newChecksum(schema)
				return sums[i].read(g, path)
			})
		}
		broke := all.Wait()
		for _, s := range sums {
			sum.join(s)
		}
		return broke
	})
	return sum, err
}

// read sums up a row group column by column, which needs the memory of one page
// at a time.
func (c *checksum) read(g parquet.RowGroup, path string) error {
	c.rows = g.NumRows()
	for i, chunk := range g.ColumnChunks() {
		if err := c.columns[i].read(newColumnReader(chunk)); err != nil {
			return fmt.Errorf("read back %s: %w", path, err)
		}
	}
	return nil
}

func (s *columnSum) read(column *columnReader) error {
	defer closeRead(column)
	for {
		err := column.fill()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, v := range column.ready {
			s.add(v)
		}
		column.ready = nil
		column.release()
	}
}

// Rows reads every row of a Parquet file of a corpus in order. Its error, or
// the first that visit gives, ends the reading. A row is valid only within its
// visit.
func Rows[T any](fsys FS, path string, visit func(*T) error) error {
	schema := parquet.SchemaOf(new(T))
	optional := pointersOf(reflect.TypeFor[T](), schema)
	decoded := func(row parquet.Row) error {
		var v T
		if err := schema.Reconstruct(&v, row); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		optional.read(&v, row)
		return visit(&v)
	}
	return withGroups(fsys, path, schema, func(groups []parquet.RowGroup) error {
		for _, g := range groups {
			if err := groupRows(g, path, decoded); err != nil {
				return err
			}
		}
		return nil
	})
}

// withGroups opens a file that must have the given schema.
func withGroups(fsys FS, path string, schema *parquet.Schema, use func([]parquet.RowGroup) error) (err error) {
	defer broken(path, &err)
	f, err := fsys.Open(path)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer closeRead(f)
	file, err := openParquet(f, path)
	if err != nil {
		return err
	}
	if got, want := Fingerprint(file.Schema()), Fingerprint(named(schema, file.Schema())); got != want {
		return fmt.Errorf("read %s: its schema is not that of its rows", path)
	}
	return use(file.RowGroups())
}

// broken turns a panic while reading into an error: parquet-go panics on some
// broken pages. It must be deferred itself.
func broken(path string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("read %s: broken file: %v", path, r)
	}
}

// named gives a schema the name that the file's own has: the name of the root
// is no part of what a row is.
func named(schema, as *parquet.Schema) *parquet.Schema {
	return parquet.NewSchema(as.Name(), schema)
}

func openParquet(f Source, path string) (*parquet.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("stat %s: %w", path, err)
	}
	file, err := footer.Open(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return file, nil
}

// groupRows visits as many rows as the footer says that the group has.
func groupRows(g parquet.RowGroup, path string, visit func(parquet.Row) error) error {
	var columns []*columnReader
	for _, chunk := range g.ColumnChunks() {
		column := newColumnReader(chunk)
		defer closeRead(column)
		columns = append(columns, column)
	}
	var row parquet.Row
	for range g.NumRows() {
		row = row[:0]
		for _, column := range columns {
			var err error
			if row, err = column.row(row); err != nil {
				return fmt.Errorf("read %s: %w", path, err)
			}
		}
		if err := visit(row); err != nil {
			return err
		}
		for _, column := range columns {
			column.release()
		}
	}
	return nil
}
