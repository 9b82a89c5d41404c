package rows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// rendering writes rows of Arrow's columns as JSON, none longer than a line may
// be: the library beneath writes lists of lists as long as they say they are.
type rendering struct {
	text    bytes.Buffer
	members map[fielded][]member
}

// member is a column or a field of a structure, by its name as JSON and a colon.
type member struct {
	at   int
	name string
}

var (
	errOutside = errors.New("a value lies outside of its column")
	errLongRow = fmt.Errorf("longer than %d bytes", maxLineBytes)
	errDense   = fmt.Errorf("with those before it a thousand times longer than the file, and than %d bytes", arrowTextBytes)
)

// row returns a row of a batch as a JSON object.
func (r *rendering) row(batch arrow.RecordBatch, i int) (string, error) {
	r.text.Reset()
	err := r.object(batch.Schema(), i, batch.Column)
	return r.text.String(), err
}

// fielded is a schema or the type of a structure.
type fielded interface{ Fields() []arrow.Field }

func (r *rendering) object(of fielded, i int, column func(int) arrow.Array) error {
	members, err := r.membersOf(of)
	if err != nil {
		return err
	}
	r.text.WriteByte('{')
	for n, m := range members {
		if n > 0 {
			r.text.WriteByte(',')
		}
		r.text.WriteString(m.name)
		if err := r.value(column(m.at), i); err != nil {
			return err
		}
	}
	r.text.WriteByte('}')
	return nil
}

// membersOf sorts columns by name; of equal names the last counts.
func (r *rendering) membersOf(of fielded) ([]member, error) {
	if known, ok := r.members[of]; ok {
		return known, nil
	}
	last := map[string]int{}
	for i, f := range of.Fields() {
		last[f.Name] = i
	}
	out := make([]member, 0, len(last))
	for _, name := range slices.Sorted(maps.Keys(last)) {
		b, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("render name of column: %w", err)
		}
		out = append(out, member{last[name], string(b) + ":"})
	}
	r.members[of] = out
	return out, nil
}

// value writes the value of a column at a place that the file chose.
func (r *rendering) value(a arrow.Array, i int) error {
	switch {
	case i < 0 || i >= a.Len():
		return errOutside
	case r.text.Len() > maxLineBytes:
		return errLongRow
	case a.IsNull(i):
		r.text.WriteString("null")
		return nil
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return r.value(a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return r.value(a.Values(), a.GetPhysicalIndex(i))
	case *array.Struct:
		return r.object(a.DataType().(*arrow.StructType), i, a.Field)
	case array.ListLike:
		return r.list(a, i)
	case array.Union:
		return r.alternative(a, i)
	default:
		return r.leaf(a.GetOneForMarshal(i))
	}
}

func (r *rendering) list(a array.ListLike, i int) error {
	from, to := a.ValueOffsets(i)
	r.text.WriteByte('[')
	for at := from; at < to; at++ {
		if at > from {
			r.text.WriteByte(',')
		}
		if err := r.value(a.ListValues(), int(at)); err != nil {
			return err
		}
	}
	r.text.WriteByte(']')
	return nil
}

// alternative writes a value of one of several types behind the type's number.
func (r *rendering) alternative(a array.Union, i int) error {
	of, at := a.Field(a.ChildID(i)), i
	if dense, ok := a.(*array.DenseUnion); ok {
		at = int(dense.ValueOffset(i))
	}
	if at >= 0 && at < of.Len() && of.IsNull(at) {
		r.text.WriteString("null")
		return nil
	}
	fmt.Fprintf(&r.text, "[%d,", a.TypeCode(i))
	if err := r.value(of, at); err != nil {
		return err
	}
	r.text.WriteByte(']')
	return nil
}

func (r *rendering) leaf(value any) error {
	n := 0
	switch v := value.(type) {
	case string:
		n = len(v)
	case []byte:
		n = len(v)
	}
	if n > maxLineBytes-r.text.Len() {
		return errLongRow
	}
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("render value: %w", err)
	}
	r.text.Write(b)
	return nil
}
