package shard

import (
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Pointers lists the optional scalars that a row type has from the structs
// embedded in it. parquet-go v0.32.0 loses there what a pointer is for: it
// writes a pointer to zero as null, makes nil pointers of the row point to zero
// while it does, and reads null as a pointer to zero, so that a measured 0 and
// an unknown value change places.
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

// Of gives the pointers' own values in v, to hold them against what the library
// makes of them.
func (ps Pointers) Of(v any) []reflect.Value {
	s, out := reflect.ValueOf(v).Elem(), make([]reflect.Value, len(ps))
	for i, p := range ps {
		out[i] = reflect.ValueOf(s.FieldByIndex(p.index).Interface())
	}
	return out
}

// Write puts the zeros back into a row that was made of v, and the nils back
// into v; before is what v's pointers were.
func (ps Pointers) Write(v any, row parquet.Row, before []reflect.Value) {
	s := reflect.ValueOf(v).Elem()
	for i, p := range ps {
		s.FieldByIndex(p.index).Set(before[i])
		if value := p.in(row); !before[i].IsNil() && value.IsNull() {
			*value = parquet.ValueOf(before[i].Elem().Interface()).Level(0, 1, p.column)
		}
	}
}

// Read sets the pointers of null columns to nil.
func (ps Pointers) Read(v any, row parquet.Row) {
	s := reflect.ValueOf(v).Elem()
	for _, p := range ps {
		if p.in(row).IsNull() {
			s.FieldByIndex(p.index).SetZero()
		}
	}
}

func (p pointerField) in(row parquet.Row) *parquet.Value {
	i := slices.IndexFunc(row, func(v parquet.Value) bool { return v.Column() == p.column })
	return &row[i]
}
