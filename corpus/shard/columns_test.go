package shard_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/shard"
)

// nested has what no row of a corpus has: lists in lists, and pointers to structs.
type nested struct {
	Name  string `parquet:"name"`
	Lists []struct {
		Small []int32    `parquet:"small,list"`
		Wide  []float32  `parquet:"wide,list"`
		Texts [][]string `parquet:"texts,list"`
		None  *int64     `parquet:"none,optional"`
	} `parquet:"lists,list"`
	Kept   string `parquet:"-"`
	hidden string
	Within *struct {
		Yes []bool  `parquet:"yes,list"`
		At  float64 `parquet:"at"`
	} `parquet:"within,optional"`
}

// TestColumnsAreTheLibrarys takes random rows apart as parquet-go does.
func TestColumnsAreTheLibrarys(t *testing.T) {
	t.Parallel()
	for _, row := range []any{&nested{hidden: "x"}, &rows.SFT{}, &rows.Steps{}, &rows.Pref{}, &rows.KTO{}, &rows.RL{}, &rows.Attempt{}, &rows.Verdict{}, &rows.Outcome{}, &rows.Judgement{}, &rows.Leak{}, &rows.Place{}} {
		dice, columns, schema := rand.New(rand.NewPCG(1, 2)), shard.ColumnsOf(reflect.TypeOf(row).Elem()), parquet.SchemaOf(row)
		for range 200 {
			fill(dice, reflect.ValueOf(row).Elem())
			columns.Of(row)
			for i, want := range perColumn(schema.Deconstruct(nil, row)) {
				same := len(want) == len(columns.Values[i])
				for k := 0; same && k < len(want); k++ {
					same = parquet.DeepEqual(want[k], columns.Values[i][k])
				}
				if !same {
					t.Fatalf("%T, column %v: %+v, want %+v of %+v", row, schema.Columns()[i], columns.Values[i], want, row)
				}
			}
		}
	}
}

func perColumn(row parquet.Row) (all [][]parquet.Value) {
	for _, values := range row.Range {
		all = append(all, values)
	}
	return all
}

// fill gives every field a value other than zero, which the library loses behind
// pointers; lists and pointers may be empty.
func fill(dice *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(dice, v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), dice.IntN(4), 4))
		for i := range v.Len() {
			fill(dice, v.Index(i))
		}
	case reflect.Pointer:
		if v.SetZero(); dice.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(dice, v.Elem())
		}
	case reflect.String:
		v.SetString("text"[:dice.IntN(4)])
	case reflect.Bool:
		v.SetBool(dice.IntN(2) == 1)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1 + dice.Int64N(100))
	default:
		v.SetFloat(dice.Float64() + 1)
	}
}
