package shard

import (
	"reflect"
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// Columns splits rows of one Go type into the values of a Parquet file's columns.
// It reuses its memory from row to row: parquet-go's Deconstruct allocates for each
// row, and writes a pointer to zero in an embedded struct as null. A Columns must not
// be used by several goroutines at a time.
type Columns struct {
	root node
	// Values holds the last loaded row, one slice per column. Texts share the memory
	// of that row.
	Values [][]parquet.Value
}

// node is a part of a row type: a struct with its fields, a list or pointer with its
// element, or a leaf. Its values go to the columns start to end-1.
type node struct {
	field      int // index of the field in the parent struct
	children   []node
	start, end int
}

// ColumnsOf returns the columns of a row type, which may consist of structs, lists
// and pointers of strings, numbers and bools.
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

// Load replaces Values by those of a row, passed as a pointer.
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

// levels are the Dremel levels of a value. repetition is the depth of the list in
// which the value starts a new element, 0 for a new row. depth is the number of lists
// around the value. definition counts the lists and pointers around it that are not
// empty.
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

// loadNull adds a null to every column of a part of the row.
func (c *Columns) loadNull(n *node, lv levels) {
	for i := n.start; i < n.end; i++ {
		c.add(i, parquet.Value{}, lv)
	}
}

func (c *Columns) add(column int, v parquet.Value, lv levels) {
	c.Values[column] = append(c.Values[column], v.Level(lv.repetition, lv.definition, column))
}

// valueOf returns a leaf as a Parquet value. A text shares the memory of v.
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
