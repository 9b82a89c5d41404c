package columns

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

const (
	// arrowMetaBytes is the maximum size in bytes of the description of a batch or of all
	// columns. A thousand columns need 64 KiB.
	arrowMetaBytes = 256 << 10
	// arrowHeldBytes is the maximum decompressed size in bytes of a batch together with all
	// dictionaries.
	arrowHeldBytes = 1 << 30
	// arrowPacked limits decompression, against small streams that decompress to enormous ones: a
	// decompressed buffer may have arrowPacked times the length of the stream, plus arrowLeast
	// bytes.
	arrowPacked = 1000
	arrowLeast  = 1 << 20
)

// openArrow opens an untrusted Arrow stream. Arrow's reader turns its own panics into errors,
// but trusts the sizes that a stream declares. They are therefore checked against the length of
// the stream, and the returned allowance limits the memory that the reader allocates.
func openArrow(src *io.SectionReader) (*ipc.Reader, *allowance, error) {
	if err := checkMessages(src); err != nil {
		return nil, nil, err
	}
	mem := &allowance{
		Allocator: memory.DefaultAllocator,
		limit:     arrowLeast + arrowPacked*src.Size(),
	}
	options := []ipc.Option{
		ipc.WithAllocator(mem),
		ipc.WithMetadataSizeLimit(arrowMetaBytes),
		ipc.WithBodySizeLimit(min(src.Size()+1, arrowHeldBytes)),
	}
	r, err := ipc.NewReaderFromMessageReader(ipc.NewMessageReader(src, options...), options...)
	return r, mem, err
}

// Numbers of Arrow's format. The slots are those of the tables Message, Schema and Field in the
// format's definition (Message.fbs, Schema.fbs). kindUnion is a kind of column that is not read;
// kindRuns is the first of several others.
const (
	slotHeader       = 8
	slotBody         = 10
	slotMessageNotes = 12
	slotFields       = 6
	slotSchemaNotes  = 8
	slotKind         = 8
	slotChildren     = 14
	slotFieldNotes   = 16

	kindUnion = 14
	kindRuns  = 22
)

// maxColumns is the maximum total number of columns, nested columns and metadata entries in one
// message of an Arrow stream.
const maxColumns = 1 << 10

// counted is a count of columns and metadata entries. Its method add panics above maxColumns,
// which also ends a recursion.
type counted int

func (c *counted) add(n int) {
	if *c += counted(n); *c > maxColumns {
		panic("it has more columns than are read")
	}
}

// checkMessages returns an error for an Arrow stream in which a few bytes make reading expensive:
// one with too many columns or metadata entries, all of which can refer to the same bytes, or with
// columns (views, runs, unions) in which a few bytes represent any number of values. It also
// returns an error for a message that cannot be parsed. It stops at the end mark of the stream.
func checkMessages(src *io.SectionReader) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errArrow, p)
		}
	}()
	for offset := int64(0); offset < src.Size() || offset == 0; {
		meta, err := description(src, offset)
		if meta == nil || err != nil {
			return err
		}
		var notes counted
		message := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
		notes.add(length(message, slotMessageNotes))
		if offset == 0 {
			var header flatbuffers.Table
			message.Union(&header, flatbuffers.UOffsetT(message.Offset(slotHeader)))
			notes.add(length(header, slotSchemaNotes))
			countColumns(header, slotFields, &notes)
		}
		offset += arrowHead + int64(len(meta)) + max(0, message.GetInt64Slot(slotBody, 0))
	}
	return nil
}

// arrowHead is the number of bytes before the description of each message in an Arrow stream: a
// marker and the length of the description.
const arrowHead = 8

// description returns the description (a flatbuffer) of the message that begins at an offset of an
// Arrow stream, cut to arrowMetaBytes. It returns nil at the end of the stream, and an error if no
// message begins there.
func description(src *io.SectionReader, offset int64) ([]byte, error) {
	head := make([]byte, arrowHead)
	if _, err := src.ReadAt(head, offset); err != nil {
		if offset > 0 && head[0] == 0 {
			return nil, nil // not every writer marks the end
		}
		return nil, fmt.Errorf("%w: %v", errArrow, err) //nolint:errorlint // a wrapped io.EOF would be the end of the table
	}
	mark := binary.LittleEndian.Uint32(head)
	size := binary.LittleEndian.Uint32(head[4:])
	if mark == 0 || size == 0 {
		return nil, nil
	}
	if string(head[:4]) != arrowStream {
		return nil, fmt.Errorf("%w: no message begins at byte %d", errArrow, offset)
	}
	meta := make([]byte, min(size, arrowMetaBytes))
	if _, err := src.ReadAt(meta, offset+arrowHead); err != nil {
		return nil, fmt.Errorf("%w: %v", errArrow, err) //nolint:errorlint // as above
	}
	return meta, nil
}

func countColumns(t flatbuffers.Table, slot flatbuffers.VOffsetT, fields *counted) {
	for i := range length(t, slot) {
		i := t.Vector(flatbuffers.UOffsetT(t.Offset(slot))) + flatbuffers.UOffsetT(i*flatbuffers.SizeUOffsetT)
		field := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(i)}
		if kind := field.GetByteSlot(slotKind, 0); kind == kindUnion || kind >= kindRuns {
			panic("unions, runs and views are not read: write the rows as Parquet")
		}
		fields.add(1)
		fields.add(length(field, slotFieldNotes))
		countColumns(field, slotChildren, fields)
	}
}

func length(t flatbuffers.Table, slot flatbuffers.VOffsetT) int {
	if o := t.Offset(slot); o != 0 {
		return t.VectorLen(flatbuffers.UOffsetT(o))
	}
	return 0
}

// allowance is an allocator that limits the memory of a batch and its dictionaries. It panics
// above the limit, and Arrow's reader turns the panic into an error.
type allowance struct {
	memory.Allocator
	limit, used int64
}

// Allocate returns new memory of size bytes. It panics above the limit.
func (a *allowance) Allocate(size int) []byte {
	a.take(size)
	return a.Allocator.Allocate(size)
}

// Reallocate changes the size of b to size bytes and returns the memory, which may be
// elsewhere. It panics above the limit.
func (a *allowance) Reallocate(size int, b []byte) []byte {
	a.used -= int64(len(b))
	a.take(size)
	return a.Allocator.Reallocate(size, b)
}

// Free releases b, so that its bytes do not count any more.
func (a *allowance) Free(b []byte) {
	a.used -= int64(len(b))
	a.Allocator.Free(b)
}

func (a *allowance) take(size int) {
	if size < 0 || int64(size) > min(a.limit, arrowHeldBytes-a.used) {
		panic(fmt.Errorf("%w: a part would take %d bytes", errArrow, size))
	}
	a.used += int64(size)
}

// arrowBare is how many rows and elements a batch may have beyond those that its bytes can
// represent at one bit each. The allowance is for columns that contain only nulls, whose elements
// take no bytes.
const arrowBare = 1 << 20

// check returns an error if a batch has more rows or elements than its bytes can represent.
func (a *allowance) check(batch arrow.RecordBatch) error {
	longest := 8*a.used + arrowBare
	outside := batch.NumRows() > longest
	var walk func(d arrow.ArrayData)
	walk = func(d arrow.ArrayData) {
		outside = outside || int64(d.Len()) > longest
		for _, child := range d.Children() {
			walk(child)
		}
	}
	for _, column := range batch.Columns() {
		walk(column.Data())
	}
	if outside {
		return fmt.Errorf("%w: a batch has more rows than its bytes can hold", errArrow)
	}
	return nil
}
