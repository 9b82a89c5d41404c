package footer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/trajectory-arena/arena/internal/longtest"
)

type row struct {
	Name  string `parquet:"name,dict"`
	Words []struct {
		Text *string `parquet:"text,optional"`
	} `parquet:"words,list"`
	Score float64 `parquet:"score"`
	Sure  bool    `parquet:"sure"`
}

// file is a small file of several row groups and pages.
func file(t testing.TB, codec compress.Codec) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.Compression(codec), parquet.PageBufferSize(256), parquet.KeyValueMetadata("key", "value"))
	for i := range 12 {
		word := strings.Repeat("ab", i)
		if _, err := w.Write([]row{{Name: word[:i%3], Score: float64(i), Words: []struct {
			Text *string `parquet:"text,optional"`
		}{{&word}, {nil}}}}); err != nil {
			t.Fatal(err)
		}
		if i%6 == 5 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// values reads the values of a file up to the first error.
func values(b []byte) (n int, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("panic of the reader beneath")
		}
	}()
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return 0, err
	}
	for _, g := range f.RowGroups() {
		for _, c := range g.ColumnChunks() {
			m, err := chunkValues(c)
			if n += m; err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func chunkValues(c parquet.ColumnChunk) (n int, err error) {
	pages := c.Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		batch := make([]parquet.Value, 64)
		for values := page.Values(); ; {
			m, err := values.ReadValues(batch)
			if n += m; errors.Is(err, io.EOF) {
				break
			} else if err != nil || m == 0 {
				return n, errors.Join(err, io.ErrNoProgress)
			}
		}
		parquet.Release(page)
	}
}

func TestFilesOfEveryOtherCodecOpen(t *testing.T) {
	t.Parallel()
	for name, codec := range map[string]compress.Codec{
		"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "zstd": &parquet.Zstd, "brotli": &parquet.Brotli,
	} {
		if n, err := values(file(t, codec)); n != 12*5 || err != nil {
			t.Errorf("%s: %d values: %v", name, n, err)
		}
	}
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	full := file(t, &parquet.Zstd)
	longFooter := slices.Clone(full)
	binary.LittleEndian.PutUint32(longFooter[len(full)-8:], math.MaxUint32)
	for want, b := range map[string][]byte{
		"broken Parquet file: it has 3 bytes":                      []byte("PAR"),
		"broken Parquet file: its footer would have 4294967295":    longFooter,
		"broken Parquet file: its footer ends in the middle":       withFooter([]byte{0x19}),
		"broken Parquet file: its footer has a list longer than":   withFooter(list(math.MaxInt32)),
		"broken Parquet file: its footer is nested too deeply":     withFooter(bytes.Repeat([]byte{0x1c}, 100)),
		"invalid magic footer":                                     append(slices.Clone(full[:len(full)-4]), "PARX"...),
		"no columns are read that are compressed with LZ4: write":  file(t, &parquet.Lz4Raw),
		"column name: broken Parquet file: a page ends behind its": negativePage(full),
	} {
		if _, err := Open(bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// negativePage makes the third field of the first header, the size of its page,
// negative.
func negativePage(b []byte) []byte {
	b = slices.Clone(b)
	b[4+5] = 1 // the magic, then a field and its value twice, then the field
	return b
}

// list returns a structure whose second field claims to be a list of n structures.
func list(n uint64) []byte { return binary.AppendUvarint([]byte{0x29, 0xfc}, n) }

func withFooter(b []byte) []byte {
	b = append([]byte("PAR1"), b...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(b)-4)), "PAR1"...)
}

// mostTaken is far more memory than any of these files needs, and far less than the sizes in a
// damaged one can claim.
const mostTaken = 256 << 20

// TestDamageTakesLittleMemory writes sizes over every place of a file. None may
// end the program. Without the tag long they go over its second half.
func TestDamageTakesLittleMemory(t *testing.T) {
	full := file(t, &parquet.Zstd)
	if !longtest.Tests {
		full = full[len(full)/2:]
	}
	for offset := range len(full) - 8 {
		for _, size := range [][]byte{{0xff}, {0x7f}, {0xff, 0xff, 0xff, 0xff, 0x0f}, {0xfe, 0xff, 0xff, 0xff, 0x07}, {0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}} {
			b := slices.Clone(full)
			copy(b[offset:len(b)-8], size)
			if allocated := memory(func() { _, _ = values(b) }); allocated > mostTaken {
				t.Errorf("%x at %d takes %d bytes", size, offset, allocated)
			}
		}
	}
}

func memory(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func FuzzDamagedFileIsReadOrRefused(f *testing.F) {
	full := file(f, &parquet.Zstd)
	f.Add(len(full)-6, []byte{0xff, 0xff})
	f.Add(len(full)/2, []byte{0xfc, 0xff, 0xff, 0xff, 0xff, 0x07})
	f.Add(46, []byte{0xff})
	f.Fuzz(func(_ *testing.T, offset int, damage []byte) {
		b := slices.Clone(full)
		if offset >= 0 && offset < len(b) {
			copy(b[offset:], damage)
		}
		_, _ = values(b)
	})
}
