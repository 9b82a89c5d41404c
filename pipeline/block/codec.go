package block

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strings"
)

// plan says how values of a type are stored. It is made of the type alone, so that a
// new field is one line in its struct: numbers are varints, strings are words of the
// block's list. A tag `block` says where a field differs: "text" is a string that does
// not recur, "omitzero" a struct that is often empty, "-" is not stored.
type plan struct {
	of   reflect.Type
	kind reflect.Kind
	tag  string
	// elem is that of a pointer, a slice or an array, fields those of a struct.
	elem   *plan
	fields []field
	// layout names what is stored and how: blocks of another one are made again.
	layout string
}

type field struct {
	at int
	*plan
}

func planFor[T any]() *plan { return planOf(reflect.TypeFor[T](), "") }

// planOf panics where a type has a kind that no block stores.
func planOf(t reflect.Type, tag string) *plan {
	p := &plan{of: t, kind: t.Kind(), tag: tag, layout: t.Kind().String() + tag}
	switch p.kind {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Float64, reflect.String:
	case reflect.Pointer, reflect.Slice:
		p.elem = planOf(t.Elem(), tag)
		p.layout += " " + p.elem.layout
	case reflect.Array:
		p.elem = planOf(t.Elem(), tag)
		p.layout += fmt.Sprint(" ", t.Len(), " ", p.elem.layout)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("block") != "-" {
				inner := planOf(f.Type, f.Tag.Get("block"))
				p.fields = append(p.fields, field{i, inner})
				p.layout += " " + f.Name + " " + inner.layout + ";"
			}
		}
		p.layout += "}"
	default:
		panic("store " + t.String() + " in a block: no way to store its kind")
	}
	return p
}

// read reads a value, given by a pointer, from the bytes of a frame.
func (p *plan) read(b []byte, words []string, v any) error {
	f := frame{b: b, reading: true, words: words}
	p.pass(&f, reflect.ValueOf(v).Elem())
	return f.err
}

// pass stores a value in a frame, or reads it from one into v. An empty slice is read
// as nil.
func (p *plan) pass(f *frame, v reflect.Value) {
	switch p.kind {
	case reflect.Pointer:
		if !f.bool(!v.IsNil()) {
			return
		}
		if f.reading {
			v.Set(reflect.New(p.of.Elem()))
		}
		p.elem.pass(f, v.Elem())
	case reflect.Slice:
		n := f.count(v.Len())
		if f.reading && n > 0 {
			v.Set(reflect.MakeSlice(p.of, n, n))
		}
		p.items(f, v, n)
	case reflect.Array:
		p.items(f, v, p.of.Len())
	case reflect.Struct:
		if p.tag == "omitzero" && !f.bool(!v.IsZero()) {
			return
		}
		for i := range p.fields {
			p.fields[i].pass(f, v.Field(p.fields[i].at))
		}
	default:
		if f.reading {
			p.get(f, v)
		} else {
			p.put(f, v)
		}
	}
}

func (p *plan) items(f *frame, v reflect.Value, n int) {
	for i := 0; i < n && f.err == nil; i++ {
		p.elem.pass(f, v.Index(i))
	}
}

func (p *plan) put(f *frame, v reflect.Value) {
	switch p.kind {
	case reflect.Bool:
		f.bool(v.Bool())
	case reflect.Int, reflect.Int64:
		f.uint(uint64(v.Int()<<1) ^ uint64(v.Int()>>63))
	case reflect.Float64:
		f.uint(bits.ReverseBytes64(math.Float64bits(v.Float()))) // the exponent last: most values have few bits behind it
	case reflect.String:
		f.str(v.String(), p.tag == "")
	default:
		f.uint(v.Uint())
	}
}

func (p *plan) get(f *frame, v reflect.Value) {
	switch p.kind {
	case reflect.Bool:
		v.SetBool(f.bool(false))
	case reflect.Int, reflect.Int64:
		n := f.uint(0)
		v.SetInt(int64(n>>1) ^ -int64(n&1))
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(bits.ReverseBytes64(f.uint(0))))
	case reflect.String:
		v.SetString(f.str("", p.tag == ""))
	default:
		v.SetUint(f.uint(0))
	}
}

// errShort is what a frame that ends too early, or counts more than it holds,
// is refused with.
var errShort = errors.New("frame is cut off or corrupt")

// frame is the bytes of one value on its way into a block or out of it. In both
// directions a value passes through the same method: given to be written, or returned
// as read. After the first fault of reading every value is zero, and err stays set.
type frame struct {
	b       []byte
	reading bool
	// words is the block's list of strings that recur (names, reasons), which frames name
	// by their number in it, from 1 on. numbers are those while a block is written; nil
	// where there is no list.
	words   []string
	numbers map[string]uint64
	err     error
}

func (f *frame) fail() {
	f.b = nil
	if f.err == nil {
		f.err = errShort
	}
}

func (f *frame) uint(v uint64) uint64 {
	if !f.reading {
		f.b = binary.AppendUvarint(f.b, v)
		return v
	}
	v, n := binary.Uvarint(f.b)
	if n <= 0 {
		f.fail()
		return 0
	}
	f.b = f.b[n:]
	return v
}

func (f *frame) bool(v bool) bool {
	n := uint64(0)
	if v {
		n = 1
	}
	return f.uint(n) == 1
}

// count passes the number of bytes of a string or of elements of a list. One that the
// frame cannot hold is a fault before anything is allocated.
func (f *frame) count(n int) int {
	read := f.uint(uint64(n))
	if f.reading && read > uint64(len(f.b)) {
		f.fail()
		return 0
	}
	return int(read)
}

// str passes a string, and one that is likely to recur by its number; 0 and the string
// itself where it has none.
func (f *frame) str(s string, recurs bool) string {
	if recurs {
		switch n := f.uint(f.number(s)); {
		case n > uint64(len(f.words)):
			f.fail()
		case n > 0:
			return f.words[n-1]
		}
	}
	n := f.count(len(s))
	if !f.reading {
		f.b = append(f.b, s...)
		return s
	}
	s, f.b = string(f.b[:n]), f.b[n:]
	return s
}

// maxWord is how many bytes a string may have to stand in the list of words;
// names, reasons and hashes are shorter, passages and errors mostly not.
const maxWord = 64

// number is that of a word that is written, which enters the list where it is new; 0
// where it has no place there.
func (f *frame) number(s string) uint64 {
	if f.numbers == nil || len(s) > maxWord {
		return 0
	}
	if f.numbers[s] == 0 {
		s = strings.Clone(s) // it shares the memory of a whole attempt
		f.words = append(f.words, s)
		f.numbers[s] = uint64(len(f.words))
	}
	return f.numbers[s]
}
