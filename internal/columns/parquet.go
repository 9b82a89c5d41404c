package columns

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/internal/footer"
)

// eachParquet reads a Parquet file of any schema, each row as JSON. Days and
// times come as the numbers they are stored as, and so do unsigned numbers, which
// are negative from 2^63. A column of JSON comes as its text: read into values its
// numbers would lose digits, and its objects their order.
func eachParquet(in io.ReaderAt, size int64, yield func(text string) error) error {
	file, err := footer.Open(in, size)
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

// asText is a node of a schema whose columns of JSON are columns of text.
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
	fields := slices.Clone(n.Fields())
	for i, f := range fields {
		fields[i] = fieldAsText{f}
	}
	return fields
}

// plain makes a cell what JSON holds as it is meant. Bytes are text: many
// writers leave out that a column is, and the reader drops it inside of maps.
// What is no number is null.
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
		all := make(map[string]any, cell.Len())
		for key, v := range cell.Seq2() {
			all[fmt.Sprint(key)] = plain(v)
		}
		return all
	case reflect.Slice:
		if cell.Type().Elem().Kind() == reflect.Uint8 {
			return string(cell.Bytes())
		}
		all := make([]any, cell.Len())
		for i := range all {
			all[i] = plain(cell.Index(i))
		}
		return all
	case reflect.Struct:
		all := make(map[string]any, cell.NumField())
		for i := range cell.NumField() {
			all[cell.Type().Field(i).Name] = plain(cell.Field(i))
		}
		return all
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
