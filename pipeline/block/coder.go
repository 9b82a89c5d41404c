package block

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

// errShort is what a frame that ends too early, or counts more than it holds,
// is refused with.
var errShort = errors.New("frame is cut off or corrupt")

// encoder appends values to a frame. Words that recur (names, reasons) are
// named by their number in the block's list of words.
type encoder struct {
	b     []byte
	words map[string]uint64
	known []string
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

// word writes a string that is likely to recur.
func (e *encoder) word(s string) {
	n, known := e.words[s]
	if !known {
		n = uint64(len(e.known))
		s = strings.Clone(s) // it shares the memory of a whole attempt
		e.words[s] = n
		e.known = append(e.known, s)
	}
	e.uint(n)
}

// wordList is the block's list of words, as decodeWords reads it.
func (e *encoder) wordList() []byte {
	list := &encoder{}
	list.list(len(e.known), func(i int) { list.str(e.known[i]) })
	return list.b
}

func decodeWords(b []byte) ([]string, error) {
	d := &decoder{b: b}
	var words []string
	d.list(func(n int) { words = make([]string, n) }, func(i int) { words[i] = d.str() })
	return words, d.err
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
	if n >= uint64(len(d.words)) {
		d.fail()
		return ""
	}
	return d.words[n]
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
