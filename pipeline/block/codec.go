package block

import (
	"fmt"
	"reflect"
	"strings"
)

// codec writes values of one type into frames and reads them back. It is made
// of the type alone, so that a new field is one line in its struct: numbers are
// varints, strings are words of the block's list. A tag `block` says where a field differs: "text" is a
// string that does not recur, "omitzero" a struct that is often empty, "-" is
// not stored.
type codec struct {
	write func(e *encoder, v reflect.Value)
	read  func(d *decoder, v reflect.Value)
	// layout names what is stored and how: blocks of another one are made again.
	layout string
}

// maxWord is how many bytes a string may have to stand in the list of words;
// names, reasons and hashes are shorter, passages and errors mostly not.
const maxWord = 64

func codecOf[T any]() codec { return newCodec(reflect.TypeFor[T](), "") }

// newCodec panics where a type has a kind that no block stores.
func newCodec(t reflect.Type, tag string) codec {
	switch t.Kind() {
	case reflect.Bool:
		return codec{func(e *encoder, v reflect.Value) { e.bool(v.Bool()) }, func(d *decoder, v reflect.Value) { v.SetBool(d.bool()) }, "bool"}
	case reflect.Int, reflect.Int64:
		return codec{func(e *encoder, v reflect.Value) { e.int(v.Int()) }, func(d *decoder, v reflect.Value) { v.SetInt(d.int()) }, "int"}
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return codec{func(e *encoder, v reflect.Value) { e.uint(v.Uint()) }, func(d *decoder, v reflect.Value) { v.SetUint(d.uint()) }, t.Kind().String()}
	case reflect.Float64:
		return codec{func(e *encoder, v reflect.Value) { e.float(v.Float()) }, func(d *decoder, v reflect.Value) { v.SetFloat(d.float()) }, "float"}
	case reflect.String:
		if tag == "text" {
			return codec{func(e *encoder, v reflect.Value) { e.str(v.String()) }, func(d *decoder, v reflect.Value) { v.SetString(d.str()) }, "text"}
		}
		return codec{func(e *encoder, v reflect.Value) { e.word(v.String()) }, func(d *decoder, v reflect.Value) { v.SetString(d.word()) }, "word"}
	case reflect.Pointer:
		return pointerCodec(t)
	case reflect.Slice:
		return sliceCodec(t)
	case reflect.Array:
		return arrayCodec(t)
	case reflect.Struct:
		if tag == "omitzero" {
			return sparseCodec(structCodec(t))
		}
		return structCodec(t)
	default:
		panic("store " + t.String() + " in a block: no codec for its kind")
	}
}

func pointerCodec(t reflect.Type) codec {
	elem := newCodec(t.Elem(), "")
	return codec{
		write: func(e *encoder, v reflect.Value) {
			e.bool(!v.IsNil())
			if !v.IsNil() {
				elem.write(e, v.Elem())
			}
		},
		read: func(d *decoder, v reflect.Value) {
			if d.bool() {
				v.Set(reflect.New(t.Elem()))
				elem.read(d, v.Elem())
			}
		},
		layout: "*" + elem.layout,
	}
}

// sliceCodec reads an empty slice as nil.
func sliceCodec(t reflect.Type) codec {
	elem := newCodec(t.Elem(), "")
	return codec{
		write: func(e *encoder, v reflect.Value) {
			e.uint(uint64(v.Len()))
			for i := range v.Len() {
				elem.write(e, v.Index(i))
			}
		},
		read: func(d *decoder, v reflect.Value) {
			n := d.count()
			if n == 0 {
				return
			}
			v.Set(reflect.MakeSlice(t, n, n))
			for i := 0; i < n && d.err == nil; i++ {
				elem.read(d, v.Index(i))
			}
		},
		layout: "[]" + elem.layout,
	}
}

func arrayCodec(t reflect.Type) codec {
	elem := newCodec(t.Elem(), "")
	return codec{
		write: func(e *encoder, v reflect.Value) {
			for i := range t.Len() {
				elem.write(e, v.Index(i))
			}
		},
		read: func(d *decoder, v reflect.Value) {
			for i := range t.Len() {
				elem.read(d, v.Index(i))
			}
		},
		layout: fmt.Sprintf("[%d]%s", t.Len(), elem.layout),
	}
}

func structCodec(t reflect.Type) codec {
	type field struct {
		at int
		codec
	}
	var fields []field
	var layout strings.Builder
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("block")
		if tag == "-" {
			continue
		}
		c := newCodec(f.Type, tag)
		fields = append(fields, field{i, c})
		fmt.Fprintf(&layout, "%s %s;", f.Name, c.layout)
	}
	return codec{
		write: func(e *encoder, v reflect.Value) {
			for i := range fields {
				fields[i].write(e, v.Field(fields[i].at))
			}
		},
		read: func(d *decoder, v reflect.Value) {
			for i := range fields {
				fields[i].read(d, v.Field(fields[i].at))
			}
		},
		layout: "{" + layout.String() + "}",
	}
}

// sparseCodec stores an empty value in one byte.
func sparseCodec(c codec) codec {
	return codec{
		write: func(e *encoder, v reflect.Value) {
			e.bool(!v.IsZero())
			if !v.IsZero() {
				c.write(e, v)
			}
		},
		read: func(d *decoder, v reflect.Value) {
			if d.bool() {
				c.read(d, v)
			}
		},
		layout: "?" + c.layout,
	}
}
