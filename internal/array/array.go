// Package array reads matrices of numbers from untrusted files in NumPy's npy format or in the
// safetensors format. Only one row at a time is in memory. Sizes in a file are checked against
// its length before they are used.
package array

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/x448/float16"
)

// ErrBroken is returned for a file that is neither npy nor safetensors, or is damaged.
var ErrBroken = errors.New("broken array file")

// MaxColumns is the maximum length of a row, eight times the largest vocabulary in use.
const MaxColumns = 1 << 21

// Array is one matrix in a file. An array of more than two dimensions is read as rows along its
// last dimension.
type Array struct {
	// Name is the name of the tensor. It is empty for an npy file.
	Name    string
	Shape   []int
	Columns int
	Rows    int

	kind  kind
	src   io.ReaderAt
	start int64
	row   []byte
}

// Row reads row i into dst, which must have Columns elements.
func (a *Array) Row(i int, dst []float64) error {
	if i < 0 || i >= a.Rows || len(dst) != a.Columns {
		return fmt.Errorf("row %d of %d into %d of %d columns", i, a.Rows, len(dst), a.Columns)
	}
	width := a.Columns * a.kind.bytes
	if a.row == nil {
		a.row = make([]byte, width)
	}
	if _, err := a.src.ReadAt(a.row, a.start+int64(i)*int64(width)); err != nil {
		return fmt.Errorf("read row %d: %w", i, err)
	}
	for c := range dst {
		dst[c] = a.kind.decode(a.row[c*a.kind.bytes:])
	}
	return nil
}

// Read returns the arrays of a file of size bytes, sorted by name. A file that does not start
// like an npy file is read as safetensors.
func Read(src io.ReaderAt, size int64) ([]*Array, error) {
	var magic [6]byte
	if _, err := src.ReadAt(magic[:], 0); err != nil {
		return nil, fmt.Errorf("%w: %d bytes", ErrBroken, size)
	}
	if string(magic[:]) == npyMagic {
		a, err := readNPY(src, size)
		return []*Array{a}, err
	}
	return readSafetensors(src, size)
}

// setPlace sets where the data of the array are in the file src: they start at byte start, and at
// most maxBytes bytes follow. It computes rows and columns from the shape. It returns an error if
// the shape needs more bytes or cannot be read.
func (a *Array) setPlace(src io.ReaderAt, start, maxBytes int64) error {
	if len(a.Shape) == 0 {
		return fmt.Errorf("%w: %q is a single number", ErrBroken, a.Name)
	}
	rows := int64(1)
	for _, n := range a.Shape[:len(a.Shape)-1] {
		if n < 0 || n > 0 && rows > maxBytes/int64(n) {
			return fmt.Errorf("%w: %q has shape %v in %d bytes", ErrBroken, a.Name, a.Shape, maxBytes)
		}
		rows *= int64(n)
	}
	columns := a.Shape[len(a.Shape)-1]
	if columns < 1 || columns > MaxColumns {
		return fmt.Errorf("%w: %q has rows of %d; 1 to %d are read", ErrBroken, a.Name, columns, MaxColumns)
	}
	if width := int64(columns * a.kind.bytes); rows > maxBytes/width {
		return fmt.Errorf("%w: %q has %d rows of %d bytes in %d", ErrBroken, a.Name, rows, width, maxBytes)
	}
	a.Rows, a.Columns, a.src, a.start = int(rows), columns, src, start
	return nil
}

type kind struct {
	bytes  int
	decode func([]byte) float64
}

var (
	float64s = kind{8, func(b []byte) float64 {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}}
	float32s = kind{4, func(b []byte) float64 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}}
	float16s = kind{2, func(b []byte) float64 {
		return float64(float16.Frombits(binary.LittleEndian.Uint16(b)).Float32())
	}}
	bfloats = kind{2, func(b []byte) float64 {
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	}}
)

const npyMagic = "\x93NUMPY"

// maxHeader is the maximum length of a file's header in bytes. The header of a safetensors file
// with a thousand tensors has about 100 KB.
const maxHeader = 4 << 20

var npyKinds = map[string]kind{"<f8": float64s, "<f4": float32s, "<f2": float16s}

// npyHeader matches the header of an npy file: a Python dict with the keys in NumPy's order. Its
// groups are the type, the order and the shape.
var npyHeader = regexp.MustCompile(`^\s*\{\s*'descr':\s*'([^']*)',\s*'fortran_order':\s*(True|False),\s*'shape':\s*\(([0-9, ]*)\),?\s*\}\s*$`)

func readNPY(src io.ReaderAt, size int64) (*Array, error) {
	start, length, err := npyHeaderPlace(src)
	if err != nil || length > maxHeader || start+length > size {
		return nil, fmt.Errorf("%w: npy header of %d bytes in a file of %d", ErrBroken, length, size)
	}
	text := make([]byte, length)
	if _, err = src.ReadAt(text, start); err != nil {
		return nil, fmt.Errorf("read npy header: %w", err)
	}
	m := npyHeader.FindSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("%w: npy header %.80q", ErrBroken, text)
	}
	k, ok := npyKinds[string(m[1])]
	if !ok || string(m[2]) == "True" {
		return nil, fmt.Errorf("%w: npy of type %q, Fortran order %s: little-endian floats in C order are read", ErrBroken, m[1], m[2])
	}
	a := &Array{kind: k}
	for n := range strings.SplitSeq(string(m[3]), ",") {
		if n = strings.TrimSpace(n); n == "" {
			continue
		}
		dimension, err := strconv.Atoi(n)
		if err != nil {
			return nil, fmt.Errorf("%w: npy shape (%s)", ErrBroken, m[3])
		}
		a.Shape = append(a.Shape, dimension)
	}
	return a, a.setPlace(src, start+length, size-start-length)
}

func npyHeaderPlace(src io.ReaderAt) (start, length int64, err error) {
	var head [12]byte
	if _, err = src.ReadAt(head[:], 0); err != nil {
		return 0, 0, err
	}
	switch head[6] {
	case 1:
		return 10, int64(binary.LittleEndian.Uint16(head[8:])), nil
	case 2, 3:
		return 12, int64(binary.LittleEndian.Uint32(head[8:])), nil
	default:
		return 0, 0, fmt.Errorf("%w: npy version %d", ErrBroken, head[6])
	}
}

var tensorKinds = map[string]kind{"F64": float64s, "F32": float32s, "F16": float16s, "BF16": bfloats}

type tensor struct {
	Kind    string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// readSafetensors reads the header of a safetensors file (its length in eight bytes, then JSON)
// and returns the tensors, sorted by name. The numbers after the header are not read yet.
func readSafetensors(src io.ReaderAt, size int64) ([]*Array, error) {
	var head [8]byte
	if _, err := src.ReadAt(head[:], 0); err != nil {
		return nil, fmt.Errorf("%w: %d bytes", ErrBroken, size)
	}
	length := binary.LittleEndian.Uint64(head[:])
	if length > maxHeader || int64(length) > size-8 {
		return nil, fmt.Errorf("%w: neither npy nor safetensors: its header would have %d bytes", ErrBroken, length)
	}
	text := make([]byte, length)
	if _, err := src.ReadAt(text, 8); err != nil {
		return nil, fmt.Errorf("read safetensors header: %w", err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("%w: safetensors header: %w", ErrBroken, err)
	}
	delete(raw, "__metadata__")
	arrays := make([]*Array, 0, len(raw))
	for name, b := range raw {
		a, err := newTensor(name, b, src, int64(length)+8, size)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, a)
	}
	slices.SortFunc(arrays, func(a, b *Array) int {
		return cmp.Compare(a.Name, b.Name)
	})
	return arrays, nil
}

func newTensor(
	name string,
	header []byte,
	src io.ReaderAt,
	base, size int64,
) (*Array, error) {
	var t tensor
	if err := json.Unmarshal(header, &t); err != nil {
		return nil, fmt.Errorf("%w: tensor %q: %w", ErrBroken, name, err)
	}
	k, ok := tensorKinds[t.Kind]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: tensor %q is of type %q: F64, F32, F16 and BF16 are read", ErrBroken, name, t.Kind)
	case len(t.Offsets) != 2 || t.Offsets[0] < 0 || t.Offsets[1] < t.Offsets[0] || t.Offsets[1] > size-base:
		return nil, fmt.Errorf("%w: tensor %q lies at %v of %d bytes", ErrBroken, name, t.Offsets, size-base)
	}
	a := &Array{Name: name, Shape: t.Shape, kind: k}
	return a, a.setPlace(
		src,
		base+t.Offsets[0],
		t.Offsets[1]-t.Offsets[0],
	)
}
