package student

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/student/rollout"
)

type row struct {
	rollout.Result
	Prompt     *int64   `parquet:"prompt_tokens,optional"`
	Completion *int64   `parquet:"completion_tokens,optional"`
	Length     *float64 `parquet:"length,optional"`
	Format     *float64 `parquet:"format,optional"`
	Product    *float64 `parquet:"product,optional"`
	GT         *float64 `parquet:"gt,optional"`
	Rule       *float64 `parquet:"rule,optional"`
	Title      *float64 `parquet:"title,optional"`
	Price      *float64 `parquet:"price,optional"`
	Service    *float64 `parquet:"service,optional"`
	SKUAttrs   *float64 `parquet:"sku_attrs,optional"`
	Shop       *float64 `parquet:"shop,optional"`
	Budget     *float64 `parquet:"budget,optional"`
}

func newRow(r *rollout.Result) row {
	axis := func(name string) *float64 {
		if v, has := r.Axes[name]; has {
			return &v
		}
		return nil
	}
	return row{
		Result: *r, Prompt: r.Tokens.Prompt, Completion: r.Tokens.Completion,
		Length: axis("length"), Format: axis("format"), Product: axis("product"), GT: axis("gt"), Rule: axis("rule"), Title: axis("title"),
		Price: axis("price"), Service: axis("service"), SKUAttrs: axis("sku & attrs"), Shop: axis("shop"), Budget: axis("budget"),
	}
}

type table[T any] struct {
	file  *atomicfile.File
	w     *parquet.GenericWriter[T]
	row   parquet.Row
	cells int
}

// groupCells bounds the cells of a row group, of which the writer holds one in
// memory.
const groupCells = 1 << 20

func newTable[T any](file *atomicfile.File) *table[T] {
	const pageBytes = 64 << 10 // thirty columns hold a page each
	w := parquet.NewGenericWriter[T](file, parquet.SchemaOf(*new(T)), parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.PageBufferSize(pageBytes))
	return &table[T]{file: file, w: w}
}

// add writes a row through its cells: the writer's own way with structs loses
// lists.
func (t *table[T]) add(line T) error {
	t.row = t.w.Schema().Deconstruct(t.row[:0], &line)
	if _, err := t.w.WriteRows([]parquet.Row{t.row}); err != nil {
		return err
	}
	if t.cells += len(t.row); t.cells < groupCells {
		return nil
	}
	t.cells = 0
	return t.w.Flush()
}

func (t *table[T]) close() error { return t.file.End(t.w.Close()) }
