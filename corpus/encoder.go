package corpus

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/shard"
)

// encoder writes rows as one Parquet file.
type encoder[T any] struct {
	columns *shard.Columns
	writer  *parquet.GenericWriter[T]
	// group is the input of the open row group, decoded that of the file.
	group   int64
	decoded int64
	limit   int64
	sum     shard.Sum
	longest rows.Length
	// clean is nil where rows stay as they are.
	clean *cleaner
}

func newEncoder[T any](w io.Writer, schema *parquet.Schema, p *Part) *encoder[T] {
	e := &encoder[T]{columns: shard.ColumnsOf(reflect.TypeFor[T]()), limit: p.limits.Group, sum: shard.NewSum(schema),
		writer: parquet.NewGenericWriter[T](w, writerOptions(schema)...)}
	if p.redactor != nil {
		e.clean = &cleaner{redactor: p.redactor, counts: redact.Counts{}}
	}
	return e
}

// add writes a row, cleaned unless it is clean already by the rules of the file, column
// by column: the writer's own struct path turns lists of JSON values into empty lists
// without an error.
func (e *encoder[T]) add(c *Cleaned[T]) error {
	if e.clean != nil && c.by == e.clean.redactor {
		e.clean.counts.Add(c.counts)
	} else if e.clean != nil {
		e.clean.row(&c.row)
	}
	if row, knows := any(&c.row).(interface{ Length() rows.Length }); knows {
		e.longest.Raise(row.Length())
	}
	e.columns.Load(&c.row)
	if err := e.columns.Write(e.writer.ColumnWriters()); err != nil {
		return err
	}
	size := e.sum.Add(e.columns.Values)
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

// Group is a piece of a stream that is encoded apart from it, in memory, so
// that several pieces can be made at once. It belongs to one goroutine.
type Group[T any] struct {
	open *encoder[T]
	data *bytes.Buffer
}

// buffers are those of pieces that are in their file: to grow one for each
// piece costs more than to write the piece into it.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Group starts a piece of the stream.
func (s *Shards[T]) Group() *Group[T] {
	data := buffers.Get().(*bytes.Buffer)
	data.Reset()
	return &Group[T]{newEncoder[T](data, s.schema, s.part), data}
}

// Add writes one row.
func (g *Group[T]) Add(v *T) error { return g.open.add(&Cleaned[T]{row: *v}) }

// Close ends the piece.
func (g *Group[T]) Close() error { return g.open.writer.Close() }

// Append puts the row groups of a closed piece behind what the stream holds,
// page by page as they are, and ends the piece. Where the file would pass its
// limit, they begin another. After an error every further call gives it again.
func (s *Shards[T]) Append(g *Group[T]) error {
	if s.err == nil && g.open.sum.Rows > 0 {
		s.err = s.join(g)
	}
	return s.err
}

func (s *Shards[T]) join(g *Group[T]) error {
	if s.open != nil && s.out.N+int64(g.data.Len())+s.part.limits.Group > s.part.limits.Shard {
		if err := s.finish(); err != nil {
			return err
		}
	}
	if s.open == nil {
		if err := s.next(); err != nil {
			return err
		}
	}
	piece, err := parquet.OpenFile(bytes.NewReader(g.data.Bytes()), int64(g.data.Len()))
	if err != nil {
		return fmt.Errorf("open piece of %s: %w", s.out.path, err)
	}
	for _, rows := range piece.RowGroups() {
		if _, err := s.open.writer.WriteRowGroup(rows); err != nil {
			return fmt.Errorf("write %s: %w", s.out.path, err)
		}
	}
	s.open.sum.Append(g.open.sum)
	s.open.decoded += g.open.decoded
	s.open.longest.Raise(g.open.longest)
	if c := s.open.clean; c != nil {
		c.counts.Add(g.open.clean.counts)
	}
	buffers.Put(g.data)
	return nil
}
