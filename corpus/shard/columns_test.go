package shard_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/shard"
)

// nested has shapes that no row of a corpus has: lists in lists, and pointers to structs.
type nested struct {
	Name  string `parquet:"name"`
	Lists []struct {
		Small []int32    `parquet:"small,list"`
		Wide  []float32  `parquet:"wide,list"`
		Texts [][]string `parquet:"texts,list"`
		Opt   *int64     `parquet:"opt,optional"`
	} `parquet:"lists,list"`
	Ignored string `parquet:"-"`
	hidden  string
	Inner   *struct {
		Flags []bool  `parquet:"flags,list"`
		Score float64 `parquet:"score"`
	} `parquet:"inner,optional"`
}

// TestColumnsMatchDeconstruct splits random rows as parquet-go does.
func TestColumnsMatchDeconstruct(t *testing.T) {
	t.Parallel()
	for _, row := range []any{
		&nested{hidden: "x"},
		&rows.SFT{}, &rows.Steps{}, &rows.Pref{}, &rows.KTO{}, &rows.RL{},
		&rows.Attempt{}, &rows.Verdict{}, &rows.Outcome{}, &rows.Judgement{}, &rows.Leak{}, &rows.Place{},
	} {
		rnd := rand.New(rand.NewPCG(1, 2))
		columns := shard.ColumnsOf(reflect.TypeOf(row).Elem())
		schema := parquet.SchemaOf(row)
		for range 200 {
			fill(rnd, reflect.ValueOf(row).Elem())
			columns.Load(row)
			for i, want := range valuesByColumn(schema.Deconstruct(nil, row)) {
				if !slices.EqualFunc(want, columns.Values[i], parquet.DeepEqual) {
					t.Fatalf("%T, column %v: %+v, want %+v of %+v", row, schema.Columns()[i], columns.Values[i], want, row)
				}
			}
		}
	}
}

func valuesByColumn(row parquet.Row) [][]parquet.Value {
	var columns [][]parquet.Value
	for _, values := range row.Range {
		columns = append(columns, values)
	}
	return columns
}

// fill sets every field to a random value other than zero, because the library loses
// zeros of pointers in embedded structs. Lists and pointers may be empty.
func fill(rnd *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(rnd, v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rnd.IntN(4), 4))
		for i := range v.Len() {
			fill(rnd, v.Index(i))
		}
	case reflect.Pointer:
		v.SetZero()
		if rnd.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rnd, v.Elem())
		}
	case reflect.String:
		v.SetString("text"[:rnd.IntN(4)])
	case reflect.Bool:
		v.SetBool(rnd.IntN(2) == 1)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1 + rnd.Int64N(100))
	default:
		v.SetFloat(rnd.Float64() + 1)
	}
}
