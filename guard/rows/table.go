package rows

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// separators maps the file endings of text tables to the sign between two columns. Only by the
// ending is a file read as a text table.
var separators = map[string]rune{".csv": ',', ".tsv": '\t'}

// eachRecord calls yield with a row for every record of a CSV or TSV table: a JSON object whose
// keys are in the first line of the table and whose values are strings. stem is the row's file name
// (see Row.Stem). It returns the first error of yield.
func eachRecord(
	src io.Reader,
	separator rune,
	stem string,
	yield func(Row) error,
) error {
	limited := &io.LimitedReader{R: src, N: maxArrayBytes}
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
