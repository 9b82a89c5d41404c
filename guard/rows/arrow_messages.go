package rows

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

// arrowMessages reads a stream's messages for the reader beneath, which gets none
// that states more than its bytes bear out.
type arrowMessages struct {
	in io.Reader
	// left is how many bytes the stream has behind the last message.
	left    int64
	columns described
}

// Retain and Release do nothing: the messages are the garbage collector's.
func (*arrowMessages) Retain() {}

// Release does nothing.
func (*arrowMessages) Release() {}

// Message returns the next message, io.EOF at the end. Where its parts leave its
// bytes, that is a panic, and an error here.
func (m *arrowMessages) Message() (out *ipc.Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errArrow, p)
		}
	}()
	length, err := m.length()
	if err != nil {
		return nil, err
	}
	meta, err := m.take(length, arrowMetaBytes)
	if err != nil {
		return nil, err
	}
	message := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
	body, err := m.take(message.GetInt64Slot(slotBody, 0), arrowHeldBytes)
	if err != nil {
		return nil, err
	}
	m.check(message)
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

// length reads how long the next message's description is; a mark that streams
// from before 2019 lack stands before it.
func (m *arrowMessages) length() (int64, error) {
	const continued = 0xffffffff
	n := int64(continued)
	for range 2 {
		if m.left == 0 {
			return 0, io.EOF
		}
		b, err := m.take(4, 4)
		if err != nil {
			return 0, err
		}
		if n = int64(binary.LittleEndian.Uint32(b)); n != continued {
			break
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// take reads the next n bytes.
func (m *arrowMessages) take(n, most int64) ([]byte, error) {
	if n < 0 || n > min(most, m.left) {
		return nil, fmt.Errorf("%w: a part of %d bytes where %d are left and %d are read", errArrow, n, m.left, most)
	}
	m.left -= n
	b := make([]byte, n)
	if _, err := io.ReadFull(m.in, b); err != nil {
		return nil, fmt.Errorf("%w: read message: %v", errArrow, err) //nolint:errorlint // a wrapped io.EOF would be the end of the table
	}
	return b, nil
}

// check panics where a message describes more columns than are read, or
// says that a column has more buffers than the batch.
func (m *arrowMessages) check(message flatbuffers.Table) {
	header := child(message, slotHeader)
	switch ipc.MessageType(message.GetByteSlot(slotMessage, 0)) {
	case ipc.MessageSchema:
		m.columns = described{dictionaries: map[int64]int{}}
		each(header, slotFields, func(field flatbuffers.Table) { m.columns.field(field, 1) })
		m.columns.notes(header, slotNotes)
	case ipc.MessageDictionaryBatch:
		checkCounts(child(header, slotBatch), m.columns.dictionaries[header.GetInt64Slot(slotFirst, 0)])
	case ipc.MessageRecordBatch:
		checkCounts(header, m.columns.views)
	default:
		panic("it has a message of an unknown kind")
	}
}

// checkCounts looks at the numbers of buffers of columns that have any number, of
// which there are so many: the reader beneath goes on behind the end of a list.
func checkCounts(batch flatbuffers.Table, views int) {
	counts, buffers := flatbuffers.UOffsetT(batch.Offset(slotCounts)), flatbuffers.UOffsetT(batch.Offset(slotBuffers))
	if counts == 0 {
		return
	}
	most := int64(0)
	if buffers > 0 {
		most = int64(batch.VectorLen(buffers))
	}
	if batch.VectorLen(counts) < views {
		panic("a batch has less than all columns")
	}
	start := batch.Vector(counts)
	for i := range batch.VectorLen(counts) {
		if n := batch.GetInt64(start + flatbuffers.UOffsetT(i*flatbuffers.SizeInt64)); n < 0 || n > most {
			panic("a column has more buffers than its batch")
		}
	}
}
