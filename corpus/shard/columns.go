package shard

import (
	"reflect"
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// Columns converts rows of one Go type to the values of a Parquet file's columns. It reuses its
// memory for each row, which parquet-go's Deconstruct does not. Unlike Deconstruct, it does not
// write a pointer to zero in an embedded struct as null. It is not safe for concurrent use.
type Columns struct {
	root node
	// Values has the values of the last loaded row, by column. Strings share memory with the
	// row.
	Values [][]parquet.Value
}

// node is a row type or a part of one. A struct has a child for each field, a list or pointer
// has its element as the only child, and a single value has no children. The values of a node
// are in the columns from start to before end.
type node struct {
	field      int // index of the field in the parent struct
	children   []node
	start, end int
}

// ColumnsOf returns the columns of a row type. The type may consist of structs, lists and
// pointers of strings, numbers and bools.
func ColumnsOf(t reflect.Type) *Columns {
	c := &Columns{}
	c.root = c.newNode(t)
	return c
}

func (c *Columns) newNode(t reflect.Type) node {
	n := node{start: len(c.Values)}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() || f.Tag.Get("parquet") == "-" {
				continue
			}
			child := c.newNode(f.Type)
			child.field = i
			n.children = append(n.children, child)
		}
	case reflect.Slice, reflect.Pointer:
		n.children = []node{c.newNode(t.Elem())}
	default:
		c.Values = append(c.Values, nil)
	}
	n.end = len(c.Values)
	return n
}

// Load replaces Values by the values of a row, which must be a pointer.
func (c *Columns) Load(row any) {
	for i := range c.Values {
		c.Values[i] = c.Values[i][:0]
	}
	c.load(&c.root, reflect.ValueOf(row).Elem(), levels{})
}

// Write appends the loaded row to the columns of a file.
func (c *Columns) Write(columns []*parquet.ColumnWriter) error {
	for i, values := range c.Values {
		if _, err := columns[i].WriteRowValues(values); err != nil {
			return err
		}
	}
	return nil
}

// levels are the repetition and definition levels of a value, by which Parquet encodes nested
// lists (Dremel encoding). repetition is the depth of the list in which the value starts a new
// element, 0 if it starts a new row. depth is the number of lists around the value. definition
// is the number of non-empty lists and non-nil pointers around it.
type levels struct{ repetition, depth, definition int }

func (c *Columns) load(n *node, v reflect.Value, lv levels) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range n.children {
			child := &n.children[i]
			c.load(child, v.Field(child.field), lv)
		}
	case reflect.Slice:
		c.loadList(n, v, lv)
	case reflect.Pointer:
		if v.IsNil() {
			c.loadNull(n, lv)
			return
		}
		lv.definition++
		c.load(&n.children[0], v.Elem(), lv)
	default:
		c.add(n.start, valueOf(v), lv)
	}
}

func (c *Columns) loadList(n *node, v reflect.Value, lv levels) {
	if v.Len() == 0 {
		c.loadNull(n, lv)
		return
	}
	lv.depth++
	lv.definition++
	for i := range v.Len() {
		c.load(&n.children[0], v.Index(i), lv)
		lv.repetition = lv.depth
	}
}

// loadNull adds a null to each column of n, a part of the row type, for a list without elements or
// a nil pointer.
func (c *Columns) loadNull(n *node, lv levels) {
	for i := n.start; i < n.end; i++ {
		c.add(i, parquet.Value{}, lv)
	}
}

func (c *Columns) add(column int, v parquet.Value, lv levels) {
	c.Values[column] = append(c.Values[column], v.Level(lv.repetition, lv.definition, column))
}

// valueOf converts a string, number or bool to a Parquet value. A string shares memory with v.
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
