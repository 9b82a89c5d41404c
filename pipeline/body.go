package pipeline

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// errBody is what a stored row that cannot be read back is refused with.
var errBody = errors.New("stored row is cut off or corrupt")

// body is what a block stores of an attempt that may become a row: the sft row
// without tools, which are the harness's, and without reward and multiplier,
// which the configuration of the corpus decides; and a verdict on every
// assistant message, where they were wanted and given.
type body struct {
	row      rows.SFT
	verdicts []arena.StepVerdict
}

// append stores a body for the write step: its texts as they are, its scalars
// as JSON.
func (b *body) append(dst []byte) ([]byte, error) {
	row := &b.row
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
	dst = binary.AppendUvarint(dst, uint64(len(b.verdicts)))
	for _, v := range b.verdicts {
		dst = binary.AppendVarint(dst, int64(v.Step))
		dst = appendText(appendText(appendText(dst, string(v.Need)), v.Reason), v.Quote)
	}
	return dst, nil
}

// readBody reads what append stored.
func readBody(b []byte) (*body, error) {
	t := texts{b: b}
	out := &body{}
	row := &out.row
	scalars := t.next()
	row.Metadata, row.Goal = t.next(), t.next()
	row.Messages = make([]string, 0, 32)
	for n := t.count(); n > 0 && !t.short; n-- {
		row.Messages = append(row.Messages, t.next())
	}
	for n := t.count(); n > 0 && !t.short; n-- {
		out.verdicts = append(out.verdicts, arena.StepVerdict{
			Step: t.int(), Need: arena.Need(t.next()), Reason: t.next(), Quote: t.next(),
		})
	}
	if t.short {
		return nil, errBody
	}
	if err := json.Unmarshal([]byte(scalars), &row.Scalars); err != nil {
		return nil, fmt.Errorf("read stored row: %w", err)
	}
	return out, nil
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

func (t *texts) int() int {
	n, used := binary.Varint(t.b)
	if used <= 0 {
		t.short = true
		return 0
	}
	t.b = t.b[used:]
	return int(n)
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
