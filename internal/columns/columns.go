// Package columns reads the rows of untrusted Parquet files and Arrow streams with any columns.
package columns

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/internal/footer"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// maxRowBytes is the maximum size in bytes of a row as JSON.
const maxRowBytes = 64 << 20

const parquetMagic = "PAR1"

// MagicBytes is the number of leading bytes by which columnar files are recognised.
const MagicBytes = 4

// IsColumnar reports whether a file with the first bytes magic is a Parquet or Arrow file.
func IsColumnar(magic string) bool {
	return strings.HasPrefix(magic, parquetMagic) || strings.HasPrefix(magic, arrowFile) || strings.HasPrefix(magic, arrowStream)
}

// Each calls yield for every row of a file of size bytes, in order, with the row as a JSON
// object. It returns an error if the file is damaged or exceeds a limit, or if yield returns
// one.
func Each(
	src io.ReaderAt,
	size int64,
	yield func(text string) error,
) (err error) {
	defer recovered(&err)
	var magic [MagicBytes]byte
	if _, err := src.ReadAt(magic[:], 0); err != nil {
		return fmt.Errorf("read first bytes: %w", err)
	}
	switch string(magic[:]) {
	case parquetMagic:
		return eachParquet(src, size, yield)
	case arrowFile:
		return eachArrow(io.NewSectionReader(src, arrowFileHead, size-arrowFileHead), yield)
	default:
		return eachArrow(io.NewSectionReader(src, 0, size), yield)
	}
}

// recovered turns a panic into an error. It must be deferred. The libraries that read columns
// panic because they do not check all of their input.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("read columns: damaged file: %v", p)
	}
}

// The first bytes of Arrow's two formats: a stream (which the library datasets saves to disk)
// and a file. A file is a stream between eight leading bytes and a table of contents, which is
// not needed.
const (
	arrowStream   = "\xff\xff\xff\xff"
	arrowFile     = "ARRO"
	arrowFileHead = 8
)

var (
	// errArrow is returned for an Arrow stream that is damaged or larger than the limits.
	errArrow   = errors.New("broken Arrow stream")
	errLongRow = fmt.Errorf("longer than %d bytes", maxRowBytes)
)

// eachArrow calls yield for each row of an Arrow stream, as JSON. One batch, at most a gigabyte,
// is in memory.
func eachArrow(src *io.SectionReader, yield func(text string) error) error {
	r, mem, err := openArrow(src)
	if err != nil {
		return fmt.Errorf("open arrow: %w", err)
	}
	defer r.Release()
	for line := 0; r.Next(); {
		batch := r.RecordBatch()
		if err := mem.check(batch); err != nil {
			return fmt.Errorf("read arrow rows: %w", err)
		}
		for i := range int(batch.NumRows()) {
			text, err := rowText(batch, i)
			if err != nil {
				return fmt.Errorf("render arrow row %d: %w", line, err)
			}
			if err := yield(text); err != nil {
				return err
			}
			line++
		}
	}
	return wrong.Wrap("read arrow rows", r.Err())
}

// rowText returns row i of a batch as a JSON object. Of columns with the same name, it has the last
// one.
func rowText(batch arrow.RecordBatch, i int) (string, error) {
	row := make(map[string]any, batch.NumCols())
	for column, f := range batch.Schema().Fields() {
		row[f.Name] = batch.Column(column).GetOneForMarshal(i)
	}
	b, err := json.Marshal(row)
	if err == nil && len(b) > maxRowBytes {
		err = errLongRow
	}
	return string(b), err
}

// eachParquet calls yield for each row of a Parquet file, as JSON. Dates and times are the
// numbers that the file stores, and unsigned numbers from 2^63 on become negative. A column of
// JSON becomes a string, since parsed numbers would lose digits and objects their order.
func eachParquet(src io.ReaderAt, size int64, yield func(text string) error) error {
	file, err := footer.Open(src, size)
	if err != nil {
		return fmt.Errorf("open parquet: %w", err)
	}
	r := parquet.NewGenericReader[any](file)
	defer r.Close() //nolint:errcheck // nothing was written
	schema := parquet.NewSchema("", asText{r.Schema()})
	for line, rows := 0, make([]parquet.Row, 1); ; line++ {
		n, err := r.ReadRows(rows)
		switch {
		case n == 0 && errors.Is(err, io.EOF):
			return nil
		case n == 0:
			return fmt.Errorf("read parquet row %d: %w", line, err)
		}
		var row any
		if err = schema.Reconstruct(&row, rows[0]); err != nil {
			return fmt.Errorf("read parquet row %d: %w", line, err)
		}
		text, err := json.Marshal(plain(reflect.ValueOf(row)))
		if err != nil {
			return fmt.Errorf("render parquet row %d: %w", line, err)
		}
		if err := yield(string(text)); err != nil {
			return err
		}
	}
}

// asText is a node of a Parquet schema that declares columns of JSON as columns of text.
type asText struct{ parquet.Node }

func (n asText) Type() parquet.Type      { return textType(n.Node) }
func (n asText) Fields() []parquet.Field { return textFields(n.Node) }

type fieldAsText struct{ parquet.Field }

func (f fieldAsText) Type() parquet.Type      { return textType(f.Field) }
func (f fieldAsText) Fields() []parquet.Field { return textFields(f.Field) }

func textType(n parquet.Node) parquet.Type {
	if logical := n.Type().LogicalType(); logical != nil && logical.String() == "JSON" {
		return parquet.String().Type()
	}
	return n.Type()
}

func textFields(n parquet.Node) []parquet.Field {
	return slicesx.Map(n.Fields(), func(f parquet.Field) parquet.Field {
		return fieldAsText{f}
	})
}

// plain converts a value of a Parquet row to one that encoding/json can encode. Bytes become
// text, since many writers do not mark text columns and parquet-go loses the mark inside maps.
// NaN and infinities become nil.
func plain(cell reflect.Value) any {
	if cell.IsValid() {
		if text, ok := cell.Interface().(encoding.TextMarshaler); ok { // decimals, dates
			return text
		}
	}
	switch cell.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !cell.IsNil() {
			return plain(cell.Elem())
		}
		return nil
	case reflect.Map:
		object := make(map[string]any, cell.Len())
		for key, v := range cell.Seq2() {
			object[fmt.Sprint(key)] = plain(v)
		}
		return object
	case reflect.Slice:
		if cell.Type().Elem().Kind() == reflect.Uint8 {
			return string(cell.Bytes())
		}
		list := make([]any, cell.Len())
		for i := range list {
			list[i] = plain(cell.Index(i))
		}
		return list
	case reflect.Struct:
		object := make(map[string]any, cell.NumField())
		for i := range cell.NumField() {
			object[cell.Type().Field(i).Name] = plain(cell.Field(i))
		}
		return object
	case reflect.Float32, reflect.Float64:
		if f := cell.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
	default:
	}
	if !cell.IsValid() {
		return nil
	}
	return cell.Interface()
}
