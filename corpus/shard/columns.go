package shard

import (
	"reflect"
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// Columns takes rows of one type apart into the values of a file's columns, in memory
// that it keeps. parquet-go's Deconstruct makes that memory anew for each row, and writes
// a pointer to zero in an embedded struct as null. It belongs to one goroutine.
type Columns struct {
	root node
	// Values are the last row's, column by column; texts are those of the row itself.
	Values [][]parquet.Value
}

// node is a part of a row type, a struct with its fields, a list or pointer with its
// element, or else a leaf; it fills the columns from first to behind.
type node struct {
	field         int
	within        []node
	first, behind int
}

// ColumnsOf are those of a row type: structs, lists and pointers of texts, numbers and bools.
func ColumnsOf(t reflect.Type) *Columns {
	c := &Columns{}
	c.root = c.node(t)
	return c
}

func (c *Columns) node(t reflect.Type) node {
	n := node{first: len(c.Values)}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && f.Tag.Get("parquet") != "-" {
				n.within = append(n.within, c.node(f.Type))
				n.within[len(n.within)-1].field = i
			}
		}
	case reflect.Slice, reflect.Pointer:
		n.within = []node{c.node(t.Elem())}
	default:
		c.Values = append(c.Values, nil)
	}
	n.behind = len(c.Values)
	return n
}

// Of takes a row apart, given by a pointer.
func (c *Columns) Of(row any) {
	for i := range c.Values {
		c.Values[i] = c.Values[i][:0]
	}
	c.put(&c.root, reflect.ValueOf(row).Elem(), levels{})
}

// Write adds the row to a file, by its columns' writers.
func (c *Columns) Write(to []*parquet.ColumnWriter) error {
	for i, values := range c.Values {
		if _, err := to[i].WriteRowValues(values); err != nil {
			return err
		}
	}
	return nil
}

// levels say which lists a value begins (repetition), in how many it lies (depth), and
// how many of these and of the pointers to it are there (definition).
type levels struct{ repetition, depth, definition int }

func (c *Columns) put(n *node, v reflect.Value, at levels) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range n.within {
			c.put(&n.within[i], v.Field(n.within[i].field), at)
		}
	case reflect.Slice:
		c.list(n, v, at)
	case reflect.Pointer:
		if v.IsNil() {
			c.none(n, at)
			return
		}
		at.definition++
		c.put(&n.within[0], v.Elem(), at)
	default:
		c.add(n.first, valueOf(v), at)
	}
}

func (c *Columns) list(n *node, v reflect.Value, at levels) {
	if v.Len() == 0 {
		c.none(n, at)
		return
	}
	at.depth++
	at.definition++
	for i := range v.Len() {
		c.put(&n.within[0], v.Index(i), at)
		at.repetition = at.depth
	}
}

// none adds that there is nothing in any column of a part.
func (c *Columns) none(n *node, at levels) {
	for i := n.first; i < n.behind; i++ {
		c.add(i, parquet.Value{}, at)
	}
}

func (c *Columns) add(column int, v parquet.Value, at levels) {
	c.Values[column] = append(c.Values[column], v.Level(at.repetition, at.definition, column))
}

func valueOf(v reflect.Value) parquet.Value {
	switch v.Kind() {
	case reflect.String:
		s := v.String()
		return parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(s), len(s)))
	case reflect.Int64:
		return parquet.Int64Value(v.Int())
	case reflect.Float64:
		return parquet.DoubleValue(v.Float())
	case reflect.Bool:
		return parquet.BooleanValue(v.Bool())
	default:
		return parquet.ValueOf(v.Interface())
	}
}
