package columns

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// columnsSchema has a column of every type whose values differ from their stored bytes.
var columnsSchema = arrow.NewSchema([]arrow.Field{
	{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
	{Name: "turns", Type: arrow.ListOf(arrow.StructOf(
		arrow.Field{Name: "say", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "none", Type: arrow.Null, Nullable: true},
	)), Nullable: true},
	{Name: "nothing", Type: arrow.ListOf(arrow.LargeListOf(arrow.Null)), Nullable: true},
	{Name: "seen", Type: arrow.BinaryTypes.LargeString, Nullable: true},
	{Name: "pair", Type: arrow.FixedSizeListOf(2, arrow.FixedWidthTypes.Boolean), Nullable: true},
	{Name: "map", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64), Nullable: true},
	{Name: "null", Type: arrow.Null, Nullable: true},
}, nil)

const columnsRows = `[{"word":"one","turns":[{"say":"one"},{"say":null}],"nothing":[[null,null],[]],"seen":"a text of more than twelve bytes","pair":[true,false],"map":[{"key":"k","value":1.5}]},
{"word":"one","turns":[],"nothing":null,"seen":"short","pair":[null,true],"map":[]},{}]`

// recordOf converts rows into columns.
func recordOf(t testing.TB, schema *arrow.Schema, rows string) arrow.RecordBatch {
	t.Helper()
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(record.Release)
	return record
}

// streamsOfColumns are Arrow streams of columnsRows, by how they are compressed.
func streamsOfColumns(t testing.TB) map[string]string {
	t.Helper()
	record := recordOf(t, columnsSchema, columnsRows)
	streams := map[string]string{}
	for name, options := range map[string][]ipc.Option{"not": nil, "LZ4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		var out bytes.Buffer
		w := ipc.NewWriter(&out, append(options, ipc.WithSchema(columnsSchema))...)
		if err := errors.Join(w.Write(record), w.Close()); err != nil {
			t.Fatal(err)
		}
		streams[name] = out.String()
	}
	return streams
}

// texts are the first rows of a stream, up to a hundred rows or a megabyte.
func texts(content string) (rows []string, err error) {
	defer recovered(&err)
	maxBytes := 1 << 20
	err = eachArrow(io.NewSectionReader(strings.NewReader(content), 0, int64(len(content))), func(text string) error {
		rows = append(rows, text)
		if maxBytes -= len(text); len(rows) == 100 || maxBytes < 0 {
			return errEnough
		}
		return nil
	})
	return rows, err
}

var errEnough = errors.New("enough for a test")

func TestArrowReadsEveryKindOfColumn(t *testing.T) {
	t.Parallel()
	want := []string{
		`{"map":[{"key":"k","value":1.5}],"nothing":[[null,null],[]],"null":null,"pair":[true,false],"seen":"a text of more than twelve bytes","turns":[{"none":null,"say":"one"},{"none":null,"say":null}],"word":"one"}`,
		`{"map":[],"nothing":null,"null":null,"pair":[null,true],"seen":"short","turns":[],"word":"one"}`,
		`{"map":null,"nothing":null,"null":null,"pair":null,"seen":null,"turns":null,"word":null}`,
	}
	for name, content := range streamsOfColumns(t) {
		got, err := texts(content)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// maxTaken is twice the longest row, since its text grows, and far less than the sizes in a damaged
// file can claim.
const maxTaken = 256 << 20

// TestDamagedArrowTakesLittleMemory writes sizes over every place of a stream, without
// the tag long over every seventh. None may end the program.
func TestDamagedArrowTakesLittleMemory(t *testing.T) {
	for name, stream := range streamsOfColumns(t) {
		for offset := 0; offset < len(stream); offset += longtest.Pick(1, 7) {
			for _, size := range []string{"\xff", "\x7f", "\xff\xff\xff\x7f", "\x00\x00\x00\x00\x01", "\xff\xff\xff\xff\xff\xff\xff\x00"} {
				content := []byte(stream)
				copy(content[offset:], size)
				if allocated := takenBy(func() { _, _ = texts(string(content)) }); allocated > maxTaken {
					t.Errorf("%s: %x at %d takes %d bytes", name, size, offset, allocated)
				}
			}
		}
	}
}

func takenBy(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func FuzzDamagedArrowIsReadOrRefused(f *testing.F) {
	streams := streamsOfColumns(f)
	for name, stream := range streams {
		f.Add(name, len(stream)/2, []byte{0xff, 0xff, 0xff, 0x7f})
	}
	f.Fuzz(func(_ *testing.T, name string, offset int, damage []byte) {
		content := []byte(streams[name])
		if offset >= 0 && offset < len(content) {
			copy(content[offset:], damage)
		}
		_, _ = texts(string(content))
	})
}
