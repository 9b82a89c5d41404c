package pipeline

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/corpora"
)

// errBody is what a stored row that cannot be read back is refused with.
var errBody = errors.New("stored row is cut off or corrupt")

// appendRow stores an sft row for the write step: its texts as they are, its
// scalars as JSON. Tools are the harness's and are not stored.
func appendRow(dst []byte, row *corpora.SFT) ([]byte, error) {
	scalars, err := json.Marshal(&row.Scalars)
	if err != nil {
		return nil, fmt.Errorf("store row of %s: %w", row.SessionID, err)
	}
	dst = appendText(dst, string(scalars))
	dst = appendText(dst, row.Metadata)
	dst = appendText(dst, row.Goal)
	dst = binary.AppendUvarint(dst, uint64(len(row.Messages)))
	for _, m := range row.Messages {
		dst = appendText(dst, m)
	}
	return dst, nil
}

// readRow reads what appendRow stored.
func readRow(b []byte) (*corpora.SFT, error) {
	t := texts{b: b}
	row := &corpora.SFT{}
	scalars := t.next()
	row.Metadata, row.Goal = t.next(), t.next()
	row.Messages = make([]string, 0, 32)
	for n := t.count(); n > 0 && !t.short; n-- {
		row.Messages = append(row.Messages, t.next())
	}
	if t.short {
		return nil, errBody
	}
	if err := json.Unmarshal([]byte(scalars), &row.Scalars); err != nil {
		return nil, fmt.Errorf("read stored row: %w", err)
	}
	return row, nil
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// texts reads counted strings; short is set where the bytes end too early.
type texts struct {
	b     []byte
	short bool
}

func (t *texts) count() uint64 {
	n, used := binary.Uvarint(t.b)
	if used <= 0 {
		t.short = true
		return 0
	}
	t.b = t.b[used:]
	return n
}

func (t *texts) next() string {
	n := t.count()
	if n > uint64(len(t.b)) {
		t.short = true
		return ""
	}
	s := string(t.b[:n])
	t.b = t.b[n:]
	return s
}
