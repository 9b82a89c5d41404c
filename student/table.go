package student

import (
	"encoding/json"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/trajectory-arena/arena/corpus/shard"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/student/rollout"
)

// row is a row of results.parquet: one rollout, with its token counts and the parts of its score as
// columns.
type row struct {
	rollout.Result
	Prompt     *int64   `json:"-" parquet:"prompt_tokens,optional"`
	Completion *int64   `json:"-" parquet:"completion_tokens,optional"`
	Length     *float64 `json:"length" parquet:"length,optional"`
	Format     *float64 `json:"format" parquet:"format,optional"`
	Product    *float64 `json:"product" parquet:"product,optional"`
	GT         *float64 `json:"gt" parquet:"gt,optional"`
	Rule       *float64 `json:"rule" parquet:"rule,optional"`
	Title      *float64 `json:"title" parquet:"title,optional"`
	Price      *float64 `json:"price" parquet:"price,optional"`
	Service    *float64 `json:"service" parquet:"service,optional"`
	SKUAttrs   *float64 `json:"sku & attrs" parquet:"sku_attrs,optional"`
	Shop       *float64 `json:"shop" parquet:"shop,optional"`
	Budget     *float64 `json:"budget" parquet:"budget,optional"`
}

func newRow(r *rollout.Result) (row, error) {
	line := row{
		Result:     *r,
		Prompt:     r.Tokens.Prompt,
		Completion: r.Tokens.Completion,
	}
	return line, json.Unmarshal(r.Score, &line)
}

// table is a Parquet file of rows of one type, which is open for writing.
type table struct {
	file    *atomicfile.File
	w       *parquet.GenericWriter[any]
	columns *shard.Columns
	cells   int
}

// groupCells is the number of cells after which a row group of a Parquet file is written. The
// writer has the current row group in memory.
const groupCells = 1 << 20

// newTable returns a table of rows of the type of row.
func newTable(file *atomicfile.File, row any) *table {
	const pageBytes = 64 << 10 // thirty columns hold a page each
	w := parquet.NewGenericWriter[any](
		file,
		parquet.SchemaOf(row),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.PageBufferSize(pageBytes),
	)
	return &table{
		file:    file,
		w:       w,
		columns: shard.ColumnsOf(reflect.TypeOf(row)),
	}
}

// add writes a row, which must be a pointer to a value of the table's type.
func (t *table) add(row any) error {
	t.columns.Load(row)
	if err := t.columns.Write(t.w.ColumnWriters()); err != nil {
		return err
	}
	for _, values := range t.columns.Values {
		t.cells += len(values)
	}
	if t.cells < groupCells {
		return nil
	}
	t.cells = 0
	return t.w.Flush()
}

func (t *table) close() error { return t.file.End(t.w.Close()) }
