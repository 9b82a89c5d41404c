package pack_test

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"testing/quick"

	"github.com/trajectory-arena/arena/internal/pack"
)

type inner struct {
	Name  string
	Score *float64
}

type all struct {
	Flag   bool
	Small  int8
	Number int64
	Byte   uint8
	Count  uint32
	Hash   uint64
	Share  float64
	Text   string
	Bytes  []byte
	Words  []string
	Hashes []uint64
	List   []inner
	Lists  [][]inner
	Inner  inner
	Next   *inner
	Packed [3]uint8
	Embedded
}

// Embedded is a type whose fields are those of another.
type Embedded struct{ Level int }

// TestWhatIsDecodedIsWhatWasEncoded encodes drawn values, and then damages each.
func TestWhatIsDecodedIsWhatWasEncoded(t *testing.T) {
	t.Parallel()
	err := quick.Check(func(v all, cut uint16) bool {
		b := pack.Append([]byte("before"), &v)[len("before"):]
		var got all
		if err := pack.Decode(b, &got); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%v: got %+v, want %+v", err, got, v)
		}
		isShort := errors.Is(pack.Decode(b[:int(cut)%len(b)], &all{}), pack.ErrDamaged)
		isLong := errors.Is(pack.Decode(append(b, 0), &all{}), pack.ErrDamaged)
		return isShort && isLong
	}, &quick.Config{MaxCount: 500})
	if err != nil {
		t.Error(err)
	}
}

// TestValuesAtTheEndsOfTheirRanges encodes values that draws rarely have.
func TestValuesAtTheEndsOfTheirRanges(t *testing.T) {
	t.Parallel()
	for _, v := range []all{
		{},
		{Number: math.MinInt64, Small: math.MinInt8, Count: math.MaxUint32, Hash: math.MaxUint64, Share: math.Inf(-1)},
		{Number: math.MaxInt64, Text: "a\xff\x00", Bytes: []byte{}, Words: []string{}, List: []inner{{}}, Next: &inner{Score: new(float64)}},
	} {
		var got all
		if err := pack.Decode(pack.Append(nil, &v), &got); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%v: got %+v, want %+v", err, got, v)
		}
	}
}

// FuzzDecode decodes any bytes. It ends, and needs no more memory than the bytes suggest.
func FuzzDecode(f *testing.F) {
	f.Add(pack.Append(nil, &all{Words: []string{"a"}, Lists: [][]inner{{{Name: "b"}}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v all
		if err := pack.Decode(b, &v); err == nil && len(v.Words) > len(b) {
			t.Errorf("%d words of %d bytes", len(v.Words), len(b))
		}
	})
}
