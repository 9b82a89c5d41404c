package columns

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

var viewedSchema = arrow.NewSchema([]arrow.Field{
	{Name: "seen", Type: arrow.BinaryTypes.String},
	{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
}, nil)

// viewed is a schema, a dictionary and a batch.
func viewed(t testing.TB, options ...ipc.Option) []byte {
	t.Helper()
	rows, _, err := array.RecordFromJSON(memory.DefaultAllocator, viewedSchema, strings.NewReader(`[{"seen":"longer than twelve bytes","word":"w"},{"seen":"b","word":"w"}]`))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(viewedSchema))...)
	if err := errors.Join(w.Write(rows), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// countRows counts the rows of a stream with a stated size in bytes.
func countRows(b []byte, size int) (n int, err error) {
	reader := io.NewSectionReader(bytes.NewReader(b), 0, int64(size))
	err = eachArrow(reader, func(string) error { n++; return nil })
	return n, err
}

func TestStreamsOfEveryCodecOpen(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]ipc.Option{"none": nil, "LZ4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		full := viewed(t, options...)
		if n, err := countRows(full, len(full)); n != 2 || err != nil {
			t.Errorf("%s: %d rows: %v", name, n, err)
		}
	}
}

// The messages of viewed.
const (
	ofSchema = iota
	ofDictionary
	ofBatch
)

// with changes a message of a stream.
func with(b []byte, message int, change func(message, header flatbuffers.Table)) []byte {
	b = bytes.Clone(b)
	buffer := b
	for range message {
		meta := buffer[8:]
		buffer = meta[binary.LittleEndian.Uint32(buffer[4:]):]
		message := root(meta)
		buffer = buffer[message.GetInt64Slot(slotBody, 0):]
	}
	m := root(buffer[8:])
	change(m, child(m, slotHeader))
	return b
}

func root(b []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
}

// setLen changes the length of a list.
func setLen(t flatbuffers.Table, slot flatbuffers.VOffsetT, n uint32) {
	offset := t.Indirect(t.Pos + flatbuffers.UOffsetT(t.Offset(slot)))
	binary.LittleEndian.PutUint32(t.Bytes[offset:], n)
}

// The slots of messages and batches that are damaged.
const (
	slotMessage = 6
	slotBatch   = 6 // of DictionaryBatch
	slotBuffers = 8
)

// child is a table in a table.
func child(t flatbuffers.Table, slot flatbuffers.VOffsetT) flatbuffers.Table {
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + flatbuffers.UOffsetT(t.Offset(slot)))}
}

// oneColumn is a stream of one column.
func oneColumn(t testing.TB, kind arrow.DataType, values string) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "seen", Type: kind}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	if err := errors.Join(w.Write(recordOf(t, schema, values)), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	full := viewed(t)
	for want, b := range map[string][]byte{
		"broken Arrow stream":         append(binary.LittleEndian.AppendUint32(bytes.Clone(full[:4]), math.MaxInt32), full[8:]...),
		"exceeds limit":               with(full, ofBatch, func(m, _ flatbuffers.Table) { m.MutateInt64Slot(slotBody, arrowHeldBytes+1) }),
		"invalid message body length": with(full, ofBatch, func(m, _ flatbuffers.Table) { m.MutateInt64Slot(slotBody, -1) }),
		"out of range":                with(full, ofSchema, func(_, h flatbuffers.Table) { setLen(h, slotFields, math.MaxInt32) }),
		"invalid message type":        with(full, ofBatch, func(m, _ flatbuffers.Table) { m.MutateByteSlot(slotMessage, 4) }),
		"write the rows as Parquet":   oneColumn(t, arrow.BinaryTypes.StringView, `[{"seen":"a"}]`),
		"more rows than its bytes":    plainBatch(t, 1<<40),
		"more columns than are read":  nested(20, 10),
		"has more columns":            with(noted(t), ofSchema, func(_, h flatbuffers.Table) { setLen(h, slotSchemaNotes, math.MaxInt32) }),
		"a part would take":           packed(viewed(t, ipc.WithZstd()), 1<<40),
		"unexpected EOF":              packed(viewed(t, ipc.WithLZ4()), 1<<20),
		"EOF":                         nil,
	} {
		if _, err := countRows(b, len(b)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// noted is a stream of no columns, with a note.
func noted(t testing.TB) []byte {
	t.Helper()
	note := arrow.NewMetadata([]string{"made"}, []string{"here"})
	var out bytes.Buffer
	if err := ipc.NewWriter(&out, ipc.WithSchema(arrow.NewSchema(nil, &note))).Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// plainBatch returns a stream of a batch with a number of rows and no columns.
func plainBatch(t testing.TB, n int64) []byte {
	t.Helper()
	null := arrow.NewSchema([]arrow.Field{{Name: "nothing", Type: arrow.Null}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(null))
	if err := errors.Join(w.Write(array.NewRecordBatch(null, []arrow.Array{array.NewNull(int(n))}, n)), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestCutStreamsAreErrors reads of a stream the first half of its batch, and a
// stream that ends before its size.
func TestCutStreamsAreErrors(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]ipc.Option{"none": nil, "LZ4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		full := viewed(t, options...)
		for _, size := range []int{len(full) - 100, len(full)} {
			if _, err := countRows(full[:len(full)-100], size); err == nil {
				t.Errorf("%s, with a stated size of %d bytes: %v", name, size, err)
			}
		}
	}
}

// TestLongStreamsAreRead checks that the reader releases the memory of a batch before it reads the
// next one.
func TestLongStreamsAreRead(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	rows, _, err := array.RecordFromJSON(memory.DefaultAllocator, viewedSchema, strings.NewReader(`[{"seen":"`+strings.Repeat("many words ", 100_000)+`","word":"w"}]`))
	if err != nil {
		t.Fatal(err)
	}
	w := ipc.NewWriter(&out, ipc.WithSchema(viewedSchema), ipc.WithZstd())
	for range 20 {
		if err = w.Write(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err = w.Close(); err != nil {
		t.Fatal(err)
	}
	r, mem, err := openArrow(io.NewSectionReader(bytes.NewReader(out.Bytes()), 0, int64(out.Len())))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; r.Next(); n++ {
		if mem.used > 4<<20 {
			t.Fatalf("%d bytes are in use at batch %d", mem.used, n)
		}
	}
	if n != 20 || r.Err() != nil {
		t.Errorf("%d batches: %v", n, r.Err())
	}
	r.Release()
}

// packed changes the length that is written before the first text of a dictionary,
// its third buffer.
func packed(b []byte, n uint64) []byte {
	b = bytes.Clone(b)
	var offset int
	with(b, ofDictionary, func(m, h flatbuffers.Table) {
		data := child(h, slotBatch)
		start := data.Vector(flatbuffers.UOffsetT(data.Offset(slotBuffers)))
		body := len(b) - len(m.Bytes) + int(binary.LittleEndian.Uint32(b[len(b)-len(m.Bytes)-4:]))
		offset = body + int(data.GetInt64(start+2*16))
	})
	binary.LittleEndian.PutUint64(b[offset:], n)
	return b
}

// nested returns a stream of a column nested to a number of levels, with a number of equal columns
// in each.
func nested(levels, wide int) []byte {
	w := flatbuffers.NewBuilder(0)
	var field flatbuffers.UOffsetT
	for level := range levels {
		var children flatbuffers.UOffsetT
		if level > 0 {
			w.StartVector(4, wide, 4)
			for range wide {
				w.PrependUOffsetT(field)
			}
			children = w.EndVector(wide)
		}
		w.StartObject(7)
		w.PrependUOffsetTSlot((slotChildren-4)/2, children, 0)
		field = w.EndObject()
	}
	w.StartVector(4, 1, 4)
	w.PrependUOffsetT(field)
	fields := w.EndVector(1)
	w.StartObject(4)
	w.PrependUOffsetTSlot((slotFields-4)/2, fields, 0)
	header := w.EndObject()
	w.StartObject(5)
	w.PrependByteSlot((slotMessage-4)/2, byte(ipc.MessageSchema), 0)
	w.PrependUOffsetTSlot((slotHeader-4)/2, header, 0)
	w.Finish(w.EndObject())
	head := binary.LittleEndian.AppendUint32([]byte("\xff\xff\xff\xff"), uint32(len(w.FinishedBytes())))
	return append(head, w.FinishedBytes()...)
}
