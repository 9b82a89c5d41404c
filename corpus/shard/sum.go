package shard

import (
	"errors"
	"hash/maphash"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Sum is what two readings of one file must agree in. It lives within a
// process: its hashes have a seed of their own.
type Sum struct {
	// Rows counts them.
	Rows    int64
	columns []columnSum
}

// NewSum is that of no rows.
func NewSum(schema *parquet.Schema) Sum {
	return Sum{columns: make([]columnSum, len(schema.Columns()))}
}

// Add takes in a row, its values by column, and gives its size in bytes.
func (s *Sum) Add(row [][]parquet.Value) (size int64) {
	s.Rows++
	for i, values := range row {
		for _, v := range values {
			size += s.columns[i].add(v)
		}
	}
	return size
}

// Join takes in the rows that follow.
func (s *Sum) Join(next Sum) {
	s.Rows += next.Rows
	for i := range s.columns {
		s.columns[i].join(next.columns[i])
	}
}

// Equal reports whether two sums are of the same rows.
func (s *Sum) Equal(other Sum) bool {
	return s.Rows == other.Rows && slices.Equal(s.columns, other.columns)
}

// columnSum is a polynomial in the values of one column and in their levels,
// which say where rows and lists begin: a file is read back column by column,
// and those of pieces join into that of the whole.
type columnSum struct {
	values int64
	hash   uint64
}

// sumBase is odd, so that no power of it is 0.
const sumBase = 1099511628211

var rowSeed = maphash.MakeSeed()

// add takes a value in and gives its size in bytes.
func (s *columnSum) add(v parquet.Value) (size int64) {
	levels := uint64(v.RepetitionLevel())<<8 | uint64(v.DefinitionLevel())
	content := uint64(0)
	switch {
	case v.IsNull():
		size = 1
	case v.Kind() == parquet.ByteArray:
		b := v.ByteArray()
		content, size = maphash.Bytes(rowSeed, b), int64(len(b))+4
	default:
		content, size = v.Uint64(), 8
	}
	s.values++
	s.hash = (s.hash*sumBase+content)*sumBase + levels
	return size
}

// join takes in the values that follow.
func (s *columnSum) join(next columnSum) {
	power, square := uint64(1), uint64(sumBase)
	for n := 2 * next.values; n > 0; n >>= 1 {
		if n&1 == 1 {
			power *= square
		}
		square *= square
	}
	s.values += next.values
	s.hash = s.hash*power + next.hash
}

func (s *columnSum) read(pages parquet.Pages) error {
	defer func() { _ = pages.Close() }() // it was only read
	batch := make([]parquet.Value, 64)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for values, n := page.Values(), 0; err == nil; {
			n, err = values.ReadValues(batch)
			for _, v := range batch[:n] {
				s.add(v)
			}
			if n == 0 && err == nil {
				err = io.ErrNoProgress
			}
		}
		if parquet.Release(page); !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// Pointers lists the optional scalars that a row type has from the structs embedded in
// it: parquet-go v0.32.0 reads null there as a pointer to zero.
type Pointers []pointerField

type pointerField struct {
	column int
	index  []int
}

// PointersOf are those of a row type in its schema.
func PointersOf(t reflect.Type, schema *parquet.Schema) Pointers {
	var out Pointers
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		if f.Type.Kind() != reflect.Pointer || len(f.Index) < 2 {
			continue
		}
		if leaf, ok := schema.Lookup(name); ok {
			out = append(out, pointerField{leaf.ColumnIndex, f.Index})
		}
	}
	return out
}

// Read sets the pointers of null columns to nil.
func (ps Pointers) Read(v any, row parquet.Row) {
	s := reflect.ValueOf(v).Elem()
	for _, p := range ps {
		at := slices.IndexFunc(row, func(v parquet.Value) bool { return v.Column() == p.column })
		if row[at].IsNull() {
			s.FieldByIndex(p.index).SetZero()
		}
	}
}
