package block

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"strings"
)

// errShort is what a frame that ends too early, or counts more than it holds,
// is refused with.
var errShort = errors.New("frame is cut off or corrupt")

// encoder appends values to a frame. Words that recur (names, reasons) are
// named by their number in the block's list of words, where it has one.
type encoder struct {
	b     []byte
	words map[string]uint64
	known []string
}

func newEncoder() *encoder { return &encoder{words: map[string]uint64{}} }

func (e *encoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)   { e.uint(uint64(v<<1) ^ uint64(v>>63)) }

// float writes the exponent last: most values have few bits behind it.
func (e *encoder) float(v float64) { e.uint(bits.ReverseBytes64(math.Float64bits(v))) }

func (e *encoder) bool(v bool) {
	n := uint64(0)
	if v {
		n = 1
	}
	e.uint(n)
}

func (e *encoder) str(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

// word writes a string that is likely to recur, by its number from 1 on; 0 and
// the string itself where it is too long for that.
func (e *encoder) word(s string) {
	if len(s) > maxWord || e.words == nil {
		e.uint(0)
		e.str(s)
		return
	}
	n, known := e.words[s]
	if !known {
		s = strings.Clone(s) // it shares the memory of a whole attempt
		e.known = append(e.known, s)
		n = uint64(len(e.known))
		e.words[s] = n
	}
	e.uint(n)
}

// wordList is the block's list of words, as decodeWords reads it.
func (e *encoder) wordList() []byte {
	list := &encoder{}
	list.uint(uint64(len(e.known)))
	for _, w := range e.known {
		list.str(w)
	}
	return list.b
}

func decodeWords(b []byte) ([]string, error) {
	d := &decoder{b: b}
	words := make([]string, d.count())
	for i := 0; i < len(words) && d.err == nil; i++ {
		words[i] = d.str()
	}
	return words, d.err
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
	v := d.uint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) float() float64 { return math.Float64frombits(bits.ReverseBytes64(d.uint())) }

func (d *decoder) bool() bool { return d.uint() == 1 }

func (d *decoder) str() string {
	n := d.count()
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) word() string {
	n := d.uint()
	if n == 0 {
		return d.str()
	}
	if n > uint64(len(d.words)) {
		d.fail()
		return ""
	}
	return d.words[n-1]
}

// count reads the number of bytes of a string or of elements of a list; one that the frame cannot hold
// is a fault before anything is allocated.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}
