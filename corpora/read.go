package corpora

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"
)

// readBatch is how many rows, or values of one column, are decoded at a time.
const readBatch = 64

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
		if err := all.Wait(); err != nil {
			return err
		}
		for _, s := range sums {
			sum.join(s)
		}
		return nil
	})
	return sum, err
}

// read sums up a row group column by column, which needs the memory of one page
// at a time.
func (c *checksum) read(g parquet.RowGroup, path string) error {
	c.rows = g.NumRows()
	batch := make([]parquet.Value, readBatch)
	for i, chunk := range g.ColumnChunks() {
		if err := c.columns[i].read(chunk.Pages(), batch); err != nil {
			return fmt.Errorf("read back %s: %w", path, err)
		}
	}
	return nil
}

func (s *columnSum) read(pages parquet.Pages, batch []parquet.Value) error {
	defer closeRead(pages)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = s.readPage(page.Values(), batch)
		parquet.Release(page)
		if err != nil {
			return err
		}
	}
}

func (s *columnSum) readPage(values parquet.ValueReader, batch []parquet.Value) error {
	for {
		n, err := values.ReadValues(batch)
		for _, v := range batch[:n] {
			s.add(v)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
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
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return file, nil
}

func groupRows(g parquet.RowGroup, path string, visit func(parquet.Row) error) error {
	rows := g.Rows()
	defer closeRead(rows)
	batch := make([]parquet.Row, readBatch)
	for {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			if verr := visit(row); verr != nil {
				return verr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
}
