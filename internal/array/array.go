// Package array reads matrices of numbers from files that nobody vouches for:
// NumPy's npy and safetensors. A row at a time is in memory; sizes are held
// against the file before any is believed.
package array

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// ErrBroken says that a file is no such file, or a damaged one.
var ErrBroken = errors.New("broken array file")

// MaxColumns is the longest row that is read: eight times the largest
// vocabulary in use.
const MaxColumns = 1 << 21

// Array is one matrix in a file. What has more dimensions is read as rows of its
// last one.
type Array struct {
	// Name is the tensor's; empty in an npy file.
	Name    string
	Shape   []int
	Columns int
	Rows    int

	kind  kind
	in    io.ReaderAt
	start int64
	row   []byte
}

// Row reads one row into into, which has Columns elements.
func (a *Array) Row(i int, into []float64) error {
	if i < 0 || i >= a.Rows || len(into) != a.Columns {
		return fmt.Errorf("row %d of %d into %d of %d columns", i, a.Rows, len(into), a.Columns)
	}
	width := a.Columns * a.kind.bytes
	if a.row == nil {
		a.row = make([]byte, width)
	}
	if _, err := a.in.ReadAt(a.row, a.start+int64(i)*int64(width)); err != nil {
		return fmt.Errorf("read row %d: %w", i, err)
	}
	for c := range into {
		into[c] = a.kind.decode(a.row[c*a.kind.bytes:])
	}
	return nil
}

// Read lists the arrays of a file of size bytes, by name; it knows npy by its
// first bytes and takes everything else for safetensors.
func Read(in io.ReaderAt, size int64) ([]*Array, error) {
	var magic [6]byte
	if _, err := in.ReadAt(magic[:], 0); err != nil {
		return nil, fmt.Errorf("%w: %d bytes", ErrBroken, size)
	}
	if string(magic[:]) == npyMagic {
		a, err := readNPY(in, size)
		return []*Array{a}, err
	}
	return readSafetensors(in, size)
}

// place checks that an array of this shape lies within the file from start on,
// and in no more than most bytes.
func (a *Array) place(in io.ReaderAt, start, most int64) error {
	if len(a.Shape) == 0 {
		return fmt.Errorf("%w: %q is a single number", ErrBroken, a.Name)
	}
	rows := int64(1)
	for _, n := range a.Shape[:len(a.Shape)-1] {
		if n < 0 || n > 0 && rows > most/int64(n) {
			return fmt.Errorf("%w: %q has shape %v in %d bytes", ErrBroken, a.Name, a.Shape, most)
		}
		rows *= int64(n)
	}
	columns := a.Shape[len(a.Shape)-1]
	if columns < 1 || columns > MaxColumns {
		return fmt.Errorf("%w: %q has rows of %d; 1 to %d are read", ErrBroken, a.Name, columns, MaxColumns)
	}
	if width := int64(columns * a.kind.bytes); rows > most/width {
		return fmt.Errorf("%w: %q has %d rows of %d bytes in %d", ErrBroken, a.Name, rows, width, most)
	}
	a.Rows, a.Columns, a.in, a.start = int(rows), columns, in, start
	return nil
}

type kind struct {
	bytes  int
	decode func([]byte) float64
}

var (
	float64s = kind{8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }}
	float32s = kind{4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }}
	float16s = kind{2, func(b []byte) float64 { return half(binary.LittleEndian.Uint16(b)) }}
	bfloats  = kind{2, func(b []byte) float64 {
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	}}
)

// half is an IEEE 754 binary16.
func half(b uint16) float64 {
	sign, exponent, fraction := 1-2*float64(b>>15), int(b>>10&31), float64(b&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction > 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	default:
		return sign * math.Ldexp(1024+fraction, exponent-25)
	}
}
