package array

import (
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

const npyMagic = "\x93NUMPY"

// maxHeader bounds the text that says what a file holds: a thousand tensors of a
// safetensors file take some 100 KB.
const maxHeader = 4 << 20

var npyKinds = map[string]kind{"<f8": float64s, "<f4": float32s, "<f2": float16s}

// npyHeader is the dict literal that NumPy writes, keys in its order.
var npyHeader = regexp.MustCompile(`^\s*\{\s*'descr':\s*'([^']*)',\s*'fortran_order':\s*(True|False),\s*'shape':\s*\(([0-9, ]*)\),?\s*\}\s*$`)

// readNPY reads the head of a file in NumPy's format, versions 1 to 3.
func readNPY(in io.ReaderAt, size int64) (*Array, error) {
	start, length, err := npyText(in)
	if err != nil || length > maxHeader || start+length > size {
		return nil, fmt.Errorf("%w: npy header of %d bytes in a file of %d", ErrBroken, length, size)
	}
	text := make([]byte, length)
	if _, err = in.ReadAt(text, start); err != nil {
		return nil, fmt.Errorf("read npy header: %w", err)
	}
	m := npyHeader.FindSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("%w: npy header %.80q", ErrBroken, text)
	}
	k, known := npyKinds[string(m[1])]
	if !known || string(m[2]) == "True" {
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
	return a, a.place(in, start+length, size-start-length)
}

// npyText says where the header's text starts and how long it is.
func npyText(in io.ReaderAt) (start, length int64, err error) {
	var head [12]byte
	if _, err = in.ReadAt(head[:], 0); err != nil {
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
