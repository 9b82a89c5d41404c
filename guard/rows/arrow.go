package rows

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// The first bytes of Arrow's two containers: a stream, which is what datasets
// saves to disk, and a file, which is a stream between a head of eight bytes and
// a table of contents that is not needed.
const (
	arrowStream   = "\xff\xff\xff\xff"
	arrowFile     = "ARRO"
	arrowFileHead = 8
)

// eachArrow reads an Arrow stream of any schema, each row as JSON. A batch is
// held whole: a gigabyte at most.
func eachArrow(in io.Reader, stem string, yield func(Row) error) error {
	// ipc.NewReader knows no limits.
	messages := ipc.NewMessageReader(in, ipc.WithMetadataSizeLimit(maxLineBytes), ipc.WithBodySizeLimit(maxArrayBytes))
	defer messages.Release()
	r, err := ipc.NewReaderFromMessageReader(messages)
	if err != nil {
		return fmt.Errorf("open arrow: %w", err)
	}
	defer r.Release()
	line := 0
	for r.Next() {
		if err := eachOfBatch(r.RecordBatch(), stem, &line, yield); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("read arrow rows: %w", err)
	}
	return nil
}

// eachOfBatch yields the rows of a batch, which follow line others.
func eachOfBatch(batch arrow.RecordBatch, stem string, line *int, yield func(Row) error) error {
	var text bytes.Buffer
	if err := array.RecordToJSON(batch, &text); err != nil {
		return fmt.Errorf("render columns as rows: %w", err)
	}
	for one := range strings.Lines(text.String()) {
		if err := yield(Row{JSON: strings.TrimSuffix(one, "\n"), Stem: stem, Line: *line}); err != nil {
			return err
		}
		*line++
	}
	return nil
}

// recovered turns a panic of the column readers, which check less than they
// should, into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("read columns: damaged file: %v", p)
	}
}
