package array

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// npy is a file of version 1 with float32.
func npy(header string, values ...float32) []byte {
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	b = append(b, header...)
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func safetensors(header string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func read(b []byte) ([]*Array, error) { return Read(bytes.NewReader(b), int64(len(b))) }

func rows(t *testing.T, a *Array) (rows [][]float64) {
	t.Helper()
	for i := range a.Rows {
		row := make([]float64, a.Columns)
		if err := a.Row(i, row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestReadsNumPy(t *testing.T) {
	t.Parallel()
	const head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 3), }   \n"
	arrays, err := read(npy(head, 1, 2, 3, -4, 0.5, float32(math.Inf(-1))))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{{1, 2, 3}, {-4, 0.5, math.Inf(-1)}}
	if got := rows(t, arrays[0]); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestReadsSafetensors(t *testing.T) {
	t.Parallel()
	header := `{"__metadata__":{"format":"pt"},"p1":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]},
		"p2":{"dtype":"F16","shape":[3],"data_offsets":[4,10]}}`
	data := []byte{0x80, 0x3f, 0x00, 0xc0, 0x00, 0x3c, 0x01, 0x00, 0x00, 0xfc}
	arrays, err := read(safetensors(header, data))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range arrays {
		got = append(got, fmt.Sprint(a.Name, rows(t, a)))
	}
	want := []string{"p1[[1 -2]]", fmt.Sprint("p2", [][]float64{{1, math.Ldexp(1, -24), math.Inf(-1)}})}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRefusesWhatTheFileDoesNotHold(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{
		"short":           []byte("\x93NUM"),
		"rows beyond end": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9, 3), }", 1, 2, 3),
		"huge shape":      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904, 2), }", 1),
		"fortran":         npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }", 1),
		"objects":         npy("{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }", 1),
		"a number":        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 1),
		"long header":     safetensors(strings.Repeat(" ", 8), nil)[:9],
		"offsets":         safetensors(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,400]}}`, make([]byte, 4)),
		"backwards":       safetensors(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[4,0]}}`, make([]byte, 4)),
		"negative":        safetensors(`{"a":{"dtype":"F32","shape":[-1,1],"data_offsets":[0,4]}}`, make([]byte, 4)),
		"no JSON":         safetensors(`{"a"`, make([]byte, 4)),
	} {
		if _, err := read(b); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRead holds that a file of any bytes is refused or read within its size.
func FuzzRead(f *testing.F) {
	f.Add(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", 1, 2))
	f.Add(safetensors(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}`, make([]byte, 4)))
	f.Fuzz(func(t *testing.T, b []byte) {
		arrays, err := read(b)
		if err != nil {
			return
		}
		for _, a := range arrays {
			if a.Rows > 0 && a.Columns > len(b) {
				t.Fatalf("rows of %d in %d bytes", a.Columns, len(b))
			}
			if row := make([]float64, a.Columns); a.Rows > 0 && a.Row(a.Rows-1, row) != nil {
				t.Fatal("the last row is not in the file")
			}
		}
	})
}

// TestRowRejectsIndexes checks that an index after the last row is refused: in a file of several
// tensors that row would have the numbers of the next tensor.
func TestRowRejectsIndexes(t *testing.T) {
	t.Parallel()
	header := `{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"b":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]}}`
	arrays, err := read(safetensors(header, make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, 2)
	for _, i := range []int{-1, 2, 3} {
		if arrays[0].Row(i, row) == nil {
			t.Errorf("row %d of a tensor of two rows was read", i)
		}
	}
	if arrays[0].Row(1, row[:1]) == nil {
		t.Error("a row was read into a slice that is too short")
	}
}
