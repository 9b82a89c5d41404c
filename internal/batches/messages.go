package batches

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Fields of the tables Message and DictionaryBatch.
const (
	messageVersion = 0
	messageKind    = 1
	messageHeader  = 2
	messageBody    = 3

	dictionaryBatch = 1
	dictionaryDelta = 2
)

// continued stands before the length of a message, but in streams from before
// 2019, which begin with the length.
const continued = 0xffffffff

// messages reads a stream's messages for the reader beneath, which gets none that
// says more than its bytes bear out.
type messages struct {
	in io.Reader
	// left is how many bytes the stream has behind the last message.
	left    int64
	columns columns
	// held is the size of each dictionary that the reader beneath keeps.
	held map[int64]int
}

// Retain and Release do nothing: the messages are the garbage collector's.
func (*messages) Retain() {}

// Release does nothing.
func (*messages) Release() {}

// Message returns the next message, io.EOF at the end.
func (m *messages) Message() (out *ipc.Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrBroken, p)
		}
	}()
	length, err := m.metaLen()
	if err != nil {
		return nil, err
	}
	meta, err := m.take(length, mostMeta)
	if err != nil {
		return nil, err
	}
	message := rootOf(meta)
	body, err := m.take(message.long(messageBody), mostBody)
	if err != nil {
		return nil, err
	}
	meta, body, err = m.checked(message, body)
	if err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

func (m *messages) metaLen() (int64, error) {
	if m.left == 0 {
		return 0, io.EOF
	}
	word, err := m.word()
	if err == nil && word == continued {
		word, err = m.word()
	}
	if err == nil && word == 0 {
		return 0, io.EOF
	}
	return int64(word), err
}

func (m *messages) word() (uint32, error) {
	b, err := m.take(4, 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// take reads the next n bytes.
func (m *messages) take(n, most int64) ([]byte, error) {
	if n < 0 || n > most || n > m.left {
		return nil, fmt.Errorf("%w: a part of %d bytes where %d are left and %d are read", ErrBroken, n, m.left, most)
	}
	m.left -= n
	b := make([]byte, n)
	if _, err := io.ReadFull(m.in, b); err != nil {
		return nil, fmt.Errorf("read message of Arrow stream: %w", cut(err))
	}
	return b, nil
}

// cut is an error, but not the end of a stream, for which the reader beneath would
// take it.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// checked returns what the reader beneath may see of a message.
func (m *messages) checked(message table, body []byte) (meta, unpacked []byte, err error) {
	header, _ := message.child(messageHeader)
	switch kind := ipc.MessageType(message.byte(messageKind)); kind {
	case ipc.MessageSchema:
		m.columns, err = columnsOf(header)
		return message.Bytes, body, err
	case ipc.MessageRecordBatch:
		b, err := batchOf(header, body, m.columns.batch)
		if err != nil {
			return nil, nil, err
		}
		return b.message(message, nil), b.body, nil
	case ipc.MessageDictionaryBatch:
		return m.dictionary(message, header, body)
	default:
		return nil, nil, fmt.Errorf("%w: it has a %v", ErrBroken, kind)
	}
}

func (m *messages) dictionary(message, header table, body []byte) (meta, unpacked []byte, err error) {
	id := header.long(dictionaryID)
	data, _ := header.child(dictionaryBatch)
	b, err := batchOf(data, body, m.columns.dictionaries[id])
	if err != nil {
		return nil, nil, err
	}
	if !header.GetBoolSlot(slot(dictionaryDelta), false) {
		m.held[id] = 0
	}
	m.held[id] += len(b.body)
	total := 0
	for _, n := range m.held {
		total += n
	}
	if total > mostBody {
		return nil, nil, fmt.Errorf("%w: its dictionaries are larger than %d bytes", ErrBroken, mostBody)
	}
	return b.message(message, &header), b.body, nil
}
