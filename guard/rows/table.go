package rows

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// separators are the signs between the columns of a text table, by its file's
// ending: nothing else tells such a table.
var separators = map[string]rune{".csv": ',', ".tsv": '\t'}

// eachRecord reads a table whose first line names the columns, each row as JSON.
func eachRecord(in io.Reader, separator rune, stem string, yield func(Row) error) error {
	limited := &io.LimitedReader{R: in, N: maxArrayBytes}
	r := csv.NewReader(limited)
	r.Comma = separator
	r.ReuseRecord = true
	names, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read names of columns: %w", err)
	}
	names = append([]string(nil), names...)
	for line := 0; ; line++ {
		values, err := r.Read()
		if errors.Is(err, io.EOF) && limited.N > 0 {
			return nil
		}
		if limited.N <= 0 {
			return fmt.Errorf("read table: larger than %d bytes: write one object a line instead", maxArrayBytes)
		}
		if err != nil {
			return fmt.Errorf("read record: %w", err)
		}
		row := make(map[string]string, len(names))
		for i, v := range values {
			row[names[i]] = v
		}
		if err := yield(Row{JSON: string(asjson.Bytes(row)), Stem: stem, Line: line}); err != nil {
			return err
		}
	}
}
