package gunzip_test

import (
	"bytes"
	"compress/flate"
	stdlib "compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"

	"github.com/trajectory-arena/arena/internal/gunzip"
)

// texts are of every kind that makes other blocks: stored, with fixed and with
// own codes, long copies, near and far ones.
func texts() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var trace bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&trace, `{"product_id":"%d","shop_id":"%d","title":"ทดสอบ lamp %d","price":%d.5}`+"\n", r.Uint32(), i%97, i%13, r.IntN(500))
	}
	far := append(append(bytes.Clone(noise[:32<<10]), noise[:32<<10]...), noise[:200]...)
	// letters of very unlike frequency have the longest codes
	skewed := make([]byte, 0, 400_000)
	for i := range 24 {
		skewed = append(skewed, bytes.Repeat([]byte{byte('a' + i), byte(r.Uint32())}, min(1<<i, 100_000)/2+1)...)
	}
	r.Shuffle(len(skewed), func(i, j int) { skewed[i], skewed[j] = skewed[j], skewed[i] })
	return map[string][]byte{
		"empty": {}, "one byte": {'x'}, "noise": noise, "trace": trace.Bytes(), "far": far, "skewed": skewed,
		"zeros": make([]byte, 1<<20), "short runs": bytes.Repeat([]byte("ab ab  abc"), 50_000),
	}
}

func pack(tb testing.TB, text []byte, level int) []byte {
	tb.Helper()
	var b bytes.Buffer
	z, err := stdlib.NewWriterLevel(&b, level)
	if err != nil {
		tb.Fatal(err)
	}
	_, err = z.Write(text)
	if err = errors.Join(err, z.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func unpack(r io.Reader) ([]byte, error) { return io.ReadAll(gunzip.NewReader(r)) }

func TestTextComesBack(t *testing.T) {
	t.Parallel()
	for name, text := range texts() {
		for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, flate.BestSpeed, flate.DefaultCompression, flate.BestCompression} {
			t.Run(fmt.Sprint(name, " level ", level), func(t *testing.T) {
				t.Parallel()
				packed := pack(t, text, level)
				if got, err := unpack(bytes.NewReader(packed)); err != nil || !bytes.Equal(got, text) {
					t.Errorf("got %d bytes and %v, want %d", len(got), err, len(text))
				}
				slow := iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(packed)))
				if got, err := unpack(slow); err != nil || !bytes.Equal(got, text) {
					t.Errorf("byte by byte: got %d bytes and %v, want %d", len(got), err, len(text))
				}
			})
		}
	}
}

// TestMembersFollowEachOther holds that a copy never reaches into the member
// before, and that every field of a header is read.
func TestMembersFollowEachOther(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := stdlib.NewWriter(&b)
	z.Name, z.Comment, z.Extra = "day.jsonl", "of a subnet", []byte("extra")
	_, err := z.Write([]byte("first line\n"))
	if err = errors.Join(err, z.Flush(), z.Close()); err != nil {
		t.Fatal(err)
	}
	first := b.Len()
	b.Write(pack(t, []byte("second line\n"), flate.BestSpeed))
	if got, err := unpack(bytes.NewReader(b.Bytes())); err != nil || string(got) != "first line\nsecond line\n" {
		t.Errorf("got %q and %v", got, err)
	}
	if got, err := unpack(bytes.NewReader(b.Bytes()[:first+5])); !errors.Is(err, io.ErrUnexpectedEOF) || string(got) != "first line\n" {
		t.Errorf("cut in the second header: got %q and %v", got, err)
	}
}

func TestDamageIsNamed(t *testing.T) {
	t.Parallel()
	packed := pack(t, texts()["trace"], flate.DefaultCompression)
	for name, c := range map[string]struct {
		packed []byte
		want   error
	}{
		"nothing":         {nil, io.ErrUnexpectedEOF},
		"half a header":   {packed[:5], io.ErrUnexpectedEOF},
		"half a block":    {packed[:len(packed)/2], io.ErrUnexpectedEOF},
		"half a sum":      {packed[:len(packed)-6], io.ErrUnexpectedEOF},
		"another sum":     {edited(packed, len(packed)-8), gunzip.ErrCorrupt},
		"another size":    {edited(packed, len(packed)-1), gunzip.ErrCorrupt},
		"another byte":    {edited(packed, len(packed)/2), gunzip.ErrCorrupt},
		"no gzip":         {[]byte("PK\x03\x04 and so on"), gunzip.ErrCorrupt},
		"text behind":     {append(bytes.Clone(packed), "more text than that"...), gunzip.ErrCorrupt},
		"a wild distance": {framed([]byte{0x4b, 0x04, 0x62, 0x00, 0x00}, nil), gunzip.ErrCorrupt},
		"no such block":   {framed([]byte{0x07}, nil), gunzip.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := unpack(bytes.NewReader(c.packed)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestTheDisksErrorIsPassedOn(t *testing.T) {
	t.Parallel()
	packed := pack(t, texts()["noise"], flate.BestSpeed)
	broken := errors.New("the disk does not answer")
	_, err := unpack(io.MultiReader(bytes.NewReader(packed[:len(packed)/2]), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func edited(packed []byte, at int) []byte {
	out := bytes.Clone(packed)
	out[at] ^= 0x55
	return out
}

// framed makes a member of deflate data that says to become text.
func framed(deflated, text []byte) []byte {
	out := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, deflated...)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(text))
	return binary.LittleEndian.AppendUint32(out, uint32(len(text)))
}

// FuzzSameAsTheStandardLibrary gives both any deflate data: what one takes the
// other takes, with the same text.
func FuzzSameAsTheStandardLibrary(f *testing.F) {
	for _, text := range texts() {
		for _, level := range []int{flate.HuffmanOnly, flate.BestSpeed, flate.BestCompression} {
			packed := pack(f, text[:min(len(text), 3000)], level)
			f.Add(packed[10 : len(packed)-8])
		}
	}
	f.Add([]byte{0x4b, 0x04, 0x62, 0x00, 0x00})
	f.Fuzz(func(t *testing.T, deflated []byte) {
		const most = 1 << 20
		text, _ := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(deflated)), most))
		packed := framed(deflated, text)
		z, err := stdlib.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		want, refused := io.ReadAll(io.LimitReader(z, most))
		got, err := io.ReadAll(io.LimitReader(gunzip.NewReader(bytes.NewReader(packed)), most))
		if (err == nil) != (refused == nil) || err == nil && !bytes.Equal(got, want) {
			t.Errorf("got %d bytes and %v, want %d and %v", len(got), err, len(want), refused)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := texts()["trace"]
	packed := pack(b, text, flate.DefaultCompression)
	for name, open := range map[string]func(io.Reader) (io.Reader, error){
		"own":       func(r io.Reader) (io.Reader, error) { return gunzip.NewReader(r), nil },
		"klauspost": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"stdlib":    func(r io.Reader) (io.Reader, error) { return stdlib.NewReader(r) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				z, err := open(bytes.NewReader(packed))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, z); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
