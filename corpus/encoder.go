package corpus

import (
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/shard"
)

type encoder[T any] struct {
	schema   *parquet.Schema
	optional shard.Pointers
	writer   *parquet.GenericWriter[T]
	row      parquet.Row
	// group is the input of the open row group, decoded that of the file.
	group   int64
	decoded int64
	limit   int64
	sum     shard.Sum
	longest rows.Length
	// clean is nil where rows stay as they are.
	clean *cleaner
}

type measured interface {
	Length() rows.Length
}

func newEncoder[T any](w io.Writer, schema *parquet.Schema, p *Part) *encoder[T] {
	return &encoder[T]{schema: schema, optional: shard.PointersOf(reflect.TypeFor[T](), schema), limit: p.limits.Group, sum: shard.NewSum(schema),
		writer: parquet.NewGenericWriter[T](w, writerOptions(schema)...), clean: newCleaner(p.redactor)}
}

// add writes a row through Deconstruct: the writer's own struct path turns
// lists of JSON values into empty lists without an error.
func (e *encoder[T]) add(v *T) error {
	if e.clean != nil {
		clean := *v
		e.clean.row(&clean)
		v = &clean
	}
	e.deconstruct(v)
	return e.write()
}

// addCleaned writes a row that is clean already, if by the rules of the file.
func (e *encoder[T]) addCleaned(c *Cleaned[T]) error {
	if e.clean == nil || c.by != e.clean.redactor {
		return e.add(&c.row)
	}
	e.deconstruct(&c.row)
	e.clean.counts.Add(c.counts)
	return e.write()
}

func (e *encoder[T]) deconstruct(v *T) {
	if m, ok := any(v).(measured); ok {
		e.longest.Join(m.Length())
	}
	before := e.optional.Of(v)
	e.row = e.schema.Deconstruct(e.row[:0], v)
	e.optional.Write(v, e.row, before)
}

func (e *encoder[T]) write() error {
	if _, err := e.writer.WriteRows([]parquet.Row{e.row}); err != nil {
		return err
	}
	size := e.sum.Add(e.row)
	e.group += size
	e.decoded += size
	if e.group < e.limit {
		return nil
	}
	e.group = 0
	return e.writer.Flush()
}

// codec is shared by all files, so that its encoders' windows are made once.
// Its fastest level writes text about as small as the default one, in half the
// time.
var codec = zstd.Codec{Level: zstd.SpeedFastest}

func writerOptions(schema *parquet.Schema) []parquet.WriterOption {
	opts := []parquet.WriterOption{
		schema,
		parquet.Compression(&codec),
		parquet.CreatedBy("arena", SchemaVersion, ""),
		parquet.DataPageStatistics(false),
	}
	for _, path := range schema.Columns() {
		if leaf, ok := schema.Lookup(path...); ok && leaf.Node.Type().Kind() == parquet.ByteArray {
			opts = append(opts, parquet.SkipPageBounds(path...))
		}
	}
	return opts
}
