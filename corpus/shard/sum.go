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

// Sum is a checksum of rows. Equal rows in the same order have equal sums. The seed of the
// hashes is random, so sums from different processes cannot be compared.
type Sum struct {
	// Rows is the number of rows.
	Rows    int64
	columns []columnSum
}

// NewSum returns the checksum of no rows.
func NewSum(schema *parquet.Schema) Sum {
	return Sum{columns: make([]columnSum, len(schema.Columns()))}
}

// Add adds a row to the checksum and returns its size in bytes. row has the row's values by
// column.
func (s *Sum) Add(row [][]parquet.Value) (size int64) {
	s.Rows++
	for i, values := range row {
		for _, v := range values {
			size += s.columns[i].add(v)
		}
	}
	return size
}

// Append adds the checksum of more rows to s. These rows follow the rows of s.
func (s *Sum) Append(next Sum) {
	s.Rows += next.Rows
	for i := range s.columns {
		s.columns[i].append(next.columns[i])
	}
}

// Equal reports whether both checksums are equal, so that they are checksums of the same rows.
func (s *Sum) Equal(other Sum) bool {
	return s.Rows == other.Rows && slices.Equal(s.columns, other.columns)
}

// columnSum is the checksum of one column: a polynomial hash of its values and their levels,
// which mark where rows and lists start. Each column has a separate hash because files are read
// back one column at a time. The hashes of two consecutive parts can be combined to the hash of
// both.
type columnSum struct {
	values int64
	hash   uint64
}

// sumBase is the base of the polynomial hash. It is odd, so that no power of it is 0 in 64 bits.
const sumBase = 1099511628211

var sumSeed = maphash.MakeSeed()

// add adds a value to the checksum and returns the value's size in bytes.
func (s *columnSum) add(v parquet.Value) (size int64) {
	levels := uint64(v.RepetitionLevel())<<8 | uint64(v.DefinitionLevel())
	content := uint64(0)
	switch {
	case v.IsNull():
		size = 1
	case v.Kind() == parquet.ByteArray:
		b := v.ByteArray()
		content = maphash.Bytes(sumSeed, b)
		size = int64(len(b)) + 4
	default:
		content = v.Uint64()
		size = 8
	}
	s.values++
	s.hash = (s.hash*sumBase+content)*sumBase + levels
	return size
}

// append adds the checksum of more values to s. These values follow the values of s. As if they
// had been added one by one, the old hash is multiplied by the base twice for each of them.
func (s *columnSum) append(next columnSum) {
	factor := uint64(1)
	power := uint64(sumBase)
	for n := 2 * next.values; n > 0; n >>= 1 {
		if n&1 == 1 {
			factor *= power
		}
		power *= power
	}
	s.values += next.values
	s.hash = s.hash*factor + next.hash
}

// addPages adds the values of all pages (sections) of a Parquet column to the checksum, and closes
// pages.
func (s *columnSum) addPages(pages parquet.Pages) error {
	defer func() { _ = pages.Close() }() // only read
	batch := make([]parquet.Value, 64)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = s.addValues(page.Values(), batch)
		parquet.Release(page)
		if err != nil {
			return err
		}
	}
}

func (s *columnSum) addValues(values parquet.ValueReader, batch []parquet.Value) error {
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
		if n == 0 {
			return io.ErrNoProgress
		}
	}
}

// EmbeddedPointers are the pointer fields that a row type has in embedded structs. parquet-go
// v0.32.0 decodes a null in their columns to a pointer to zero instead of nil.
type EmbeddedPointers []embeddedPointer

type embeddedPointer struct {
	column int   // in the schema
	index  []int // of the field, for reflect's FieldByIndex
}

// EmbeddedPointersOf returns the pointer fields in embedded structs of a row type. Their columns
// must be in schema.
func EmbeddedPointersOf(t reflect.Type, schema *parquet.Schema) EmbeddedPointers {
	var out EmbeddedPointers
	for _, f := range reflect.VisibleFields(t) {
		if f.Type.Kind() != reflect.Pointer || len(f.Index) < 2 {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		if leaf, ok := schema.Lookup(name); ok {
			out = append(out, embeddedPointer{leaf.ColumnIndex, f.Index})
		}
	}
	return out
}

// RestoreNulls sets the fields of a struct to nil whose columns are null in row. dst is a
// pointer to the struct to which row was decoded.
func (ps EmbeddedPointers) RestoreNulls(dst any, row parquet.Row) {
	s := reflect.ValueOf(dst).Elem()
	for _, p := range ps {
		i := slices.IndexFunc(row, func(v parquet.Value) bool {
			return v.Column() == p.column
		})
		if row[i].IsNull() {
			s.FieldByIndex(p.index).SetZero()
		}
	}
}
