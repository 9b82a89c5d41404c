package batches

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "seen", Type: arrow.BinaryTypes.StringView},
	{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
}, nil)

// stream is a schema, a dictionary and a batch.
func stream(t testing.TB, options ...ipc.Option) []byte {
	t.Helper()
	rows, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[{"seen":"longer than twelve bytes","word":"w"},{"seen":"b","word":"w"}]`))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(schema))...)
	if err := errors.Join(w.Write(rows), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// rows counts the rows of a stream.
func rows(b []byte) (n int64, err error) {
	r, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return 0, err
	}
	defer r.Release()
	for r.Next() {
		n += r.RecordBatch().NumRows()
	}
	return n, r.Err()
}

func TestStreamsOfEveryCodecOpen(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]ipc.Option{"none": nil, "LZ4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		if n, err := rows(stream(t, options...)); n != 2 || err != nil {
			t.Errorf("%s: %d rows: %v", name, n, err)
		}
	}
}

// The messages of stream.
const (
	ofSchema = iota
	ofDictionary
	ofBatch
)

// with changes a message of a stream.
func with(b []byte, message int, change func(message, header table)) []byte {
	b = bytes.Clone(b)
	rest := b
	for range message {
		meta := rest[8:]
		rest = meta[binary.LittleEndian.Uint32(rest[4:]):]
		rest = rest[rootOf(meta).long(messageBody):]
	}
	m := rootOf(rest[8:])
	header, _ := m.child(messageHeader)
	change(m, header)
	return b
}

// setLen changes the length of a list.
func setLen(t table, field int, n uint32) {
	at := t.Indirect(t.place(field))
	binary.LittleEndian.PutUint32(t.Bytes[at:], n)
}

func setLong(t table, field int, n int64) { t.MutateInt64Slot(slot(field), n) }

func setItem(t table, field, width int, n uint64) {
	start, _ := t.vector(field, width)
	binary.LittleEndian.PutUint64(t.Bytes[start:], n)
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	whole := stream(t)
	for want, b := range map[string][]byte{
		"a part of 2147483647 bytes":    append(binary.LittleEndian.AppendUint32(bytes.Clone(whole[:4]), math.MaxInt32), whole[8:]...),
		"a part of 1073741825 bytes":    with(whole, ofBatch, func(m, _ table) { setLong(m, messageBody, mostBody+1) }),
		"a part of -1 bytes":            with(whole, ofBatch, func(m, _ table) { setLong(m, messageBody, -1) }),
		"slice bounds out of range":     with(whole, ofSchema, func(_, h table) { setLen(h, schemaFields, math.MaxInt32) }),
		"it has a Tensor":               with(whole, ofBatch, func(m, _ table) { m.MutateByteSlot(slot(messageKind), 4) }),
		"less than all columns":         with(whole, ofBatch, func(_, h table) { setLen(h, batchNodes, 1) }),
		"more rows than its":            with(whole, ofBatch, func(_, h table) { setLong(h, batchRows, 1<<40) }),
		"can hold":                      with(whole, ofBatch, func(_, h table) { setItem(h, batchNodes, pairBytes, 1<<40) }),
		"its columns are nested":        nested(deepest+1, 1),
		"more columns than are read":    nested(20, 10),
		"where there is room for":       packed(stream(t, ipc.WithZstd()), 1<<40),
		"unexpected EOF":                packed(stream(t, ipc.WithLZ4()), 1<<20),
		"could not read message schema": nil,
	} {
		if _, err := rows(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestCutStreamsAreErrors reads of a stream the first half of its batch, and a
// stream that ends before its size.
func TestCutStreamsAreErrors(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]ipc.Option{"none": nil, "LZ4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		whole := stream(t, options...)
		if _, err := rows(whole[:len(whole)-100]); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
		r, err := Open(bytes.NewReader(whole[:len(whole)-100]), int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
		}
		if r.Err() == nil {
			t.Errorf("%s: a stream that was cut while it was read is read", name)
		}
		r.Release()
	}
}

// packed changes the length that is written before the first text of a dictionary,
// its third buffer.
func packed(b []byte, n uint64) []byte {
	b = bytes.Clone(b)
	var at int
	with(b, ofDictionary, func(m, h table) {
		data, _ := h.child(dictionaryBatch)
		start, _ := data.vector(batchBuffers, pairBytes)
		body := len(b) - len(m.Bytes) + int(binary.LittleEndian.Uint32(b[len(b)-len(m.Bytes)-4:]))
		at = body + int(data.GetInt64(start+2*pairBytes))
	})
	binary.LittleEndian.PutUint64(b[at:], n)
	return b
}

// nested is a stream of a column with so many columns inside, which are all the
// same one, and so on, so many levels deep.
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
		w.PrependUOffsetTSlot(fieldChildren, children, 0)
		field = w.EndObject()
	}
	w.StartVector(4, 1, 4)
	w.PrependUOffsetT(field)
	fields := w.EndVector(1)
	w.StartObject(4)
	w.PrependUOffsetTSlot(schemaFields, fields, 0)
	header := w.EndObject()
	w.StartObject(5)
	w.PrependByteSlot(messageKind, byte(ipc.MessageSchema), 0)
	w.PrependUOffsetTSlot(messageHeader, header, 0)
	w.Finish(w.EndObject())
	head := binary.LittleEndian.AppendUint32([]byte("\xff\xff\xff\xff"), uint32(len(w.FinishedBytes())))
	return append(head, w.FinishedBytes()...)
}
