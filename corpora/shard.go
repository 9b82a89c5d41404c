package corpora

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// Limits bound the files of a corpus, in bytes.
type Limits struct {
	// Group is the input that one row group holds: what a reader must take
	// into memory at once.
	Group int64
	// Shard is the size that no file passes.
	Shard int64
}

// DefaultLimits keep a row group far under the 2 GiB at which Arrow can no
// longer read a nested string column, and a shard under what hubs show.
var DefaultLimits = Limits{Group: 64 << 20, Shard: 500 << 20}

// Stream names what a writer writes: one split of one config, one table of the
// ledger, or one file outside both.
type Stream struct {
	Config  string
	Profile string
	Split   string
	// Table is the name of a ledger table; all else is then empty.
	Table string
	// Place is the path of a single file in the corpus; all else is then empty.
	Place string
}

// Shards writes the rows of one stream of a part. An empty split leaves no
// file; an empty table leaves one with its schema and no rows.
type Shards[T any] struct {
	part   *Part
	stream Stream
	schema *parquet.Schema
	open   *shard[T]
	n      int
	err    error
}

// NewShards opens a stream of rows of type T in a part.
func NewShards[T any](p *Part, s Stream) *Shards[T] {
	return &Shards[T]{part: p, stream: s, schema: parquet.SchemaOf(new(T))}
}

// Add writes one row. After an error every further call gives it again.
func (s *Shards[T]) Add(v *T) error {
	if s.err == nil {
		s.err = s.add(v)
	}
	return s.err
}

func (s *Shards[T]) add(v *T) error {
	if s.open == nil {
		if err := s.next(); err != nil {
			return err
		}
	}
	if err := s.open.add(v); err != nil {
		return err
	}
	if s.stream.Table == "" && s.open.out.n+s.part.limits.Group > s.part.limits.Shard {
		return s.finish()
	}
	return nil
}

// Close ends the stream; its files are then durable, and were read back and
// found equal to the rows that were added.
func (s *Shards[T]) Close() error {
	if s.err != nil {
		return s.err
	}
	if s.open == nil && s.stream.Table != "" {
		s.err = s.next()
	}
	if s.err == nil && s.open != nil {
		s.err = s.finish()
	}
	return s.err
}

func (s *Shards[T]) next() error {
	f, err := s.part.create(s.stream, s.n, "parquet")
	if err != nil {
		return err
	}
	s.n++
	s.open = newShard[T](f, s.schema, s.part.limits.Group)
	s.open.clean = newCleaner(s.part.redactor, s.schema)
	return nil
}

func (s *Shards[T]) finish() error {
	open := s.open
	s.open = nil
	if err := open.close(); err != nil {
		return fmt.Errorf("write %s: %w", open.out.path, err)
	}
	if err := s.part.closeFile(open.out); err != nil {
		return err
	}
	got, err := readBack(s.part.fs, open.out.path, s.schema)
	if err != nil {
		return err
	}
	if got != open.sum.checksum {
		return fmt.Errorf("read back %s: %d rows differ from the %d that were written", open.out.path, got.rows, open.sum.rows)
	}
	s.part.add(s.stream, open.out, open.sum.rows, open.decoded, s.schema)
	if c := open.clean; c != nil {
		last := &s.part.files[len(s.part.files)-1]
		last.Clean, last.Redacted = true, c.counts
	}
	return nil
}

// shard is one Parquet file being written.
type shard[T any] struct {
	out      *partFile
	schema   *parquet.Schema
	optional pointers
	writer   *parquet.GenericWriter[T]
	row      parquet.Row
	// group is the input of the open row group, decoded that of the file.
	group   int64
	decoded int64
	limit   int64
	sum     summed
	// clean is nil where rows stay as they are.
	clean *cleaner
}

func newShard[T any](f *partFile, schema *parquet.Schema, group int64) *shard[T] {
	return &shard[T]{out: f, schema: schema, optional: pointersOf(reflect.TypeFor[T](), schema), writer: parquet.NewGenericWriter[T](f, writerOptions(schema)...), limit: group}
}

// add writes a row through Deconstruct: the writer's own struct path turns
// lists of JSON values into empty lists without an error.
func (s *shard[T]) add(v *T) error {
	before := s.optional.of(v)
	s.row = s.schema.Deconstruct(s.row[:0], v)
	s.optional.write(v, s.row, before)
	if s.clean != nil {
		s.clean.row(s.row)
	}
	if _, err := s.writer.WriteRows([]parquet.Row{s.row}); err != nil {
		return fmt.Errorf("write %s: %w", s.out.path, err)
	}
	size := s.sum.add(s.row)
	s.group += size
	s.decoded += size
	if s.group < s.limit {
		return nil
	}
	s.group = 0
	if err := s.writer.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", s.out.path, err)
	}
	return nil
}

func (s *shard[T]) close() error { return s.writer.Close() }

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

// checksum is what two readings of one file must agree in. It lives within a
// process: its hash has a seed of its own.
type checksum struct {
	rows int64
	hash uint64
}

// summed takes rows in. Each is laid out as bytes and hashed at once: most have
// a hundred values of a few bytes.
type summed struct {
	checksum
	row []byte
}

var rowSeed = maphash.MakeSeed()

// add takes a row in and gives its size in bytes.
func (s *summed) add(row parquet.Row) (size int64) {
	s.row = s.row[:0]
	for _, v := range row {
		s.row = append(s.row, byte(v.RepetitionLevel()), byte(v.DefinitionLevel()), byte(v.Column()))
		size += s.value(v)
	}
	s.rows++
	s.hash = s.hash*1099511628211 + maphash.Bytes(rowSeed, s.row)
	return size
}

func (s *summed) value(v parquet.Value) int64 {
	switch {
	case v.IsNull():
		return 1
	case v.Kind() == parquet.ByteArray:
		b := v.ByteArray()
		s.row = append(binary.LittleEndian.AppendUint64(s.row, uint64(len(b))), b...)
		return int64(len(b)) + 4
	default:
		s.row = binary.LittleEndian.AppendUint64(s.row, v.Uint64())
		return 8
	}
}

// Fingerprint names a schema: two files with the same fingerprint have the
// same columns of the same types in the same order.
func Fingerprint(schema *parquet.Schema) string { return SHA256([]byte(schema.String())) }

// FingerprintOf is the fingerprint of the rows of type T.
func FingerprintOf[T any]() string { return Fingerprint(parquet.SchemaOf(new(T))) }

// Columns names the top-level columns of the rows of type T, in order.
func Columns[T any]() []string {
	var out []string
	collect(reflect.TypeFor[T](), &out)
	return out
}

func collect(t reflect.Type, out *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			collect(f.Type, out)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		*out = append(*out, name)
	}
}
