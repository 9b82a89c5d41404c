package corpus

import (
	"fmt"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/corpus/shard"
)

// Limits are the size limits of the files of a corpus, in bytes.
type Limits struct {
	// Group is the size of a row group before encoding. Readers load a row group into memory as
	// a whole.
	Group int64
	// Shard is the maximum size of a file.
	Shard int64
}

// DefaultLimits are the default size limits. Row groups are far below 2 GiB, at which Arrow
// cannot read a nested string column. Shards are below the size that hubs show.
var DefaultLimits = Limits{Group: 64 << 20, Shard: 500 << 20}

// Stream identifies the files that one writer writes: a split of a config, a ledger table, or a
// single file.
type Stream struct {
	Config  string
	Profile string
	Split   string
	// Folders reports whether each split has a separate folder.
	Folders bool `json:",omitempty"`
	// Table is the name of a ledger table. If it is set, the other fields are empty.
	Table string
	// Place is the path of a single file in the corpus. If it is set, the other fields are
	// empty.
	Place string
}

// Shards writes the rows of a stream of a part. A split without rows has no file, but a table
// without rows has one.
type Shards[T any] struct{ streamWriter }

// streamWriter has what all types Shards[T] share: it writes rows of one type to the Parquet files
// of a stream (a split of a config, or a table), one file after the other.
type streamWriter struct {
	part    *Part
	id      Stream
	rowType reflect.Type
	schema  *parquet.Schema
	encoder *encoder // of the open file, nil if none
	out     *partFile
	files   int
	err     error
}

// NewShards returns a stream of rows of type T in a part.
func NewShards[T any](p *Part, s Stream) *Shards[T] {
	return &Shards[T]{streamWriter{
		part:    p,
		id:      s,
		rowType: reflect.TypeFor[T](),
		schema:  parquet.SchemaOf(new(T)),
	}}
}

// Add writes a row, and leaves v unchanged. After an error, all further calls return the same error.
func (s *Shards[T]) Add(v *T) error {
	row := *v
	return s.add(&row)
}

// add writes a row, passed as a pointer, to the current file, and starts a new file at the size
// limit. It redacts the row in place. After an error, all further calls return the same error.
func (s *streamWriter) add(row any) error {
	if s.err == nil && s.encoder == nil {
		s.err = s.openFile()
	}
	if s.err != nil {
		return s.err
	}
	if err := s.encoder.add(row); err != nil {
		s.err = fmt.Errorf("write %s: %w", s.out.path, err)
		return s.err
	}
	if s.id.Table == "" && s.out.N+s.part.limits.Group > s.part.limits.Shard {
		s.err = s.closeFile()
	}
	return s.err
}

// Close ends the stream. Its files are then synced to disk, and were read back and compared with
// the rows.
func (s *streamWriter) Close() error {
	if s.err == nil && s.encoder == nil && s.id.Table != "" {
		s.err = s.openFile()
	}
	if s.err == nil && s.encoder != nil {
		s.err = s.closeFile()
	}
	return s.err
}

func (s *streamWriter) openFile() error {
	f, err := s.part.create(s.id, s.files, "parquet")
	if err != nil {
		return err
	}
	s.files++
	s.out = f
	s.encoder = s.newEncoder(f)
	return nil
}

func (s *streamWriter) closeFile() error {
	e := s.encoder
	s.encoder = nil
	if err := e.writer.Close(); err != nil {
		return fmt.Errorf("write %s: %w", s.out.path, err)
	}
	if err := s.out.Close(); err != nil {
		return err
	}
	if err := s.checkWritten(s.out.path, e.sum); err != nil {
		return err
	}
	file := s.part.add(s.out, e.sum.Rows, e.decoded, s.schema)
	file.Longest = e.longest
	if e.cleaner != nil {
		file.Clean = true
		file.Redacted = e.cleaner.counts
	}
	return nil
}

// checkWritten reads a finished Parquet file back. It returns an error if the file's columns
// are not those of the stream, or if the checksum of its rows is not want.
func (s *streamWriter) checkWritten(path string, want shard.Sum) error {
	return OpenParquet(s.part.fs, path, func(file *shard.File) error {
		if err := file.CheckSchema(s.schema); err != nil {
			return err
		}
		got, err := file.Sum()
		if err != nil {
			return err
		}
		if !got.Equal(want) {
			return fmt.Errorf("read back %s: %d rows differ from the %d that were written", path, got.Rows, want.Rows)
		}
		return nil
	})
}
