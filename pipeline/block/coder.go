package block

import (
	"encoding/binary"
	"errors"
	"math"
)

// errShort is what a frame that ends too early, or counts more than it holds,
// is refused with.
var errShort = errors.New("frame is cut off or corrupt")

// encoder appends values to a frame. Words that recur (names, reasons) are
// written once a block and then named by number.
type encoder struct {
	b     []byte
	words map[string]uint64
}

func newEncoder() *encoder { return &encoder{words: map[string]uint64{}} }

func (e *encoder) uint(v uint64)   { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)     { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) fixed(v uint64)  { e.b = binary.LittleEndian.AppendUint64(e.b, v) }
func (e *encoder) float(v float64) { e.fixed(math.Float64bits(v)) }

func (e *encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
		return
	}
	e.b = append(e.b, 0)
}

func (e *encoder) str(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

// word writes a string that is likely to recur: its number, then the string
// itself the first time.
func (e *encoder) word(s string) {
	n, known := e.words[s]
	if !known {
		n = uint64(len(e.words))
		e.words[s] = n
	}
	e.uint(n)
	if !known {
		e.str(s)
	}
}

func (e *encoder) optional(v *float64) {
	e.bool(v != nil)
	if v != nil {
		e.float(*v)
	}
}

func (e *encoder) optionalInt(v *int) {
	e.bool(v != nil)
	if v != nil {
		e.int(int64(*v))
	}
}

func (e *encoder) list(n int, item func(i int)) {
	e.uint(uint64(n))
	for i := range n {
		item(i)
	}
}

// decoder reads what encoder wrote. After the first fault every read gives a
// zero value and err stays set.
type decoder struct {
	b     []byte
	words []string
	err   error
}

func (d *decoder) fail() {
	d.b = nil
	if d.err == nil {
		d.err = errShort
	}
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) fixed() uint64 {
	if len(d.b) < 8 {
		d.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(d.b)
	d.b = d.b[8:]
	return v
}

func (d *decoder) float() float64 { return math.Float64frombits(d.fixed()) }

func (d *decoder) bool() bool {
	if len(d.b) == 0 {
		d.fail()
		return false
	}
	v := d.b[0] == 1
	d.b = d.b[1:]
	return v
}

func (d *decoder) str() string {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) word() string {
	n := d.uint()
	switch {
	case n < uint64(len(d.words)):
		return d.words[n]
	case n == uint64(len(d.words)) && d.err == nil:
		s := d.str()
		d.words = append(d.words, s)
		return s
	default:
		d.fail()
		return ""
	}
}

func (d *decoder) optional() *float64 {
	if !d.bool() {
		return nil
	}
	v := d.float()
	return &v
}

func (d *decoder) optionalInt() *int {
	if !d.bool() {
		return nil
	}
	v := int(d.int())
	return &v
}

// list calls item once for each counted element; a count that the frame cannot
// hold is a fault before anything is allocated.
func (d *decoder) list(size func(n int), item func(i int)) {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return
	}
	if n == 0 {
		return
	}
	size(int(n))
	for i := 0; i < int(n) && d.err == nil; i++ {
		item(i)
	}
}

func (e *encoder) uint32(v uint32) { e.b = binary.LittleEndian.AppendUint32(e.b, v) }

func (d *decoder) uint32() uint32 {
	if len(d.b) < 4 {
		d.fail()
		return 0
	}
	v := binary.LittleEndian.Uint32(d.b)
	d.b = d.b[4:]
	return v
}
