package corpus

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/shard"
)

// encoder writes rows of one type as one Parquet file and computes the checksum of the file.
type encoder struct {
	columns *shard.Columns
	writer  *parquet.GenericWriter[any]
	// group is the size in bytes, before encoding, of the current row group. decoded is the size
	// of all rows of the file.
	group   int64
	decoded int64
	limit   int64 // the row group is ended when group reaches this
	sum     shard.Sum
	longest rows.Length
	cleaner *cleaner // nil if rows are not redacted
}

// newEncoder returns an encoder of rows of the stream s that writes to w.
func (s *streamWriter) newEncoder(w io.Writer) *encoder {
	e := &encoder{
		columns: shard.ColumnsOf(s.rowType),
		writer:  parquet.NewGenericWriter[any](w, writerOptions(s.schema)...),
		limit:   s.part.limits.Group,
		sum:     shard.NewSum(s.schema),
	}
	if r := s.part.redactor; r != nil {
		e.cleaner = &cleaner{redactor: r, counts: redact.Counts{}}
	}
	return e
}

// add writes a row, passed as a pointer, and ends the row group if it has reached its size limit.
// The row is redacted in place first if the encoder redacts. The
// columns are written one by one, because the Parquet library silently turns lists of JSON values
// in a struct into empty lists.
func (e *encoder) add(row any) error {
	if e.cleaner != nil {
		e.cleaner.clean(row)
	}
	if measured, ok := row.(interface{ Length() rows.Length }); ok {
		e.longest.Raise(measured.Length())
	}
	e.columns.Load(row)
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

// codec compresses the pages of all Parquet files. Sharing one codec allocates the buffers of
// its encoders only once. The fastest level of zstd compresses text about as well as the default
// level, in half the time.
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

// Group is a group of rows of a stream that is encoded in memory, so that several groups can be
// encoded concurrently. A Group itself is not safe for concurrent use.
type Group[T any] struct{ group }

// group has what all types Group[T] share: rows that are already encoded as a Parquet row group in
// memory, and their encoder.
type group struct {
	encoder *encoder
	data    *bytes.Buffer
}

// groupBuffers keeps the memory buffers of row groups that were already written to a file, so that
// other groups reuse them. Growing a new buffer for each group would take longer than encoding the
// group.
var groupBuffers = sync.Pool{New: func() any {
	return new(bytes.Buffer)
}}

// Group returns a new group of the stream.
func (s *Shards[T]) Group() *Group[T] {
	data := groupBuffers.Get().(*bytes.Buffer)
	data.Reset()
	return &Group[T]{group{s.newEncoder(data), data}}
}

// Add writes a row.
func (g *Group[T]) Add(v *T) error {
	row := *v // redaction would change it
	return g.encoder.add(&row)
}

// Close ends the group.
func (g *group) Close() error { return g.encoder.writer.Close() }

// Append copies the row groups of a closed group to the stream without encoding them again. It
// starts a new file if the current one would exceed its limit. The group must not be used
// afterwards. After an error, all further calls return the same error.
func (s *Shards[T]) Append(g *Group[T]) error {
	if s.err == nil && g.encoder.sum.Rows > 0 {
		s.err = s.appendGroup(&g.group)
	}
	return s.err
}

func (s *streamWriter) appendGroup(g *group) error {
	size := int64(g.data.Len())
	if s.encoder != nil && s.out.N+size+s.part.limits.Group > s.part.limits.Shard {
		if err := s.closeFile(); err != nil {
			return err
		}
	}
	if s.encoder == nil {
		if err := s.openFile(); err != nil {
			return err
		}
	}
	file, err := parquet.OpenFile(bytes.NewReader(g.data.Bytes()), size)
	if err != nil {
		return fmt.Errorf("open piece of %s: %w", s.out.path, err)
	}
	for _, rowGroup := range file.RowGroups() {
		if _, err := s.encoder.writer.WriteRowGroup(rowGroup); err != nil {
			return fmt.Errorf("write %s: %w", s.out.path, err)
		}
	}
	s.encoder.sum.Append(g.encoder.sum)
	s.encoder.decoded += g.encoder.decoded
	s.encoder.longest.Raise(g.encoder.longest)
	if c := s.encoder.cleaner; c != nil {
		c.counts.Add(g.encoder.cleaner.counts)
	}
	groupBuffers.Put(g.data)
	return nil
}
