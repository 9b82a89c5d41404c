package corpus

import (
	"fmt"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/corpus/shard"
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
	// Folders says that each split has a folder of its own.
	Folders bool `json:",omitempty"`
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
	open   *encoder[T]
	out    *partFile
	n      int
	err    error
}

// NewShards opens a stream of rows of type T in a part.
func NewShards[T any](p *Part, s Stream) *Shards[T] {
	return &Shards[T]{part: p, stream: s, schema: parquet.SchemaOf(new(T))}
}

// Add writes one row. After an error every further call gives it again.
func (s *Shards[T]) Add(v *T) error { return s.AddCleaned(&Cleaned[T]{row: *v}) }

// AddCleaned writes one row that was cleaned before, as Add does. What another
// redactor than the part's has cleaned is cleaned again.
func (s *Shards[T]) AddCleaned(c *Cleaned[T]) error {
	if s.err == nil && s.open == nil {
		s.err = s.next()
	}
	if s.err != nil {
		return s.err
	}
	if err := s.open.add(c); err != nil {
		s.err = fmt.Errorf("write %s: %w", s.out.path, err)
	} else if s.stream.Table == "" && s.out.N+s.part.limits.Group > s.part.limits.Shard {
		s.err = s.finish()
	}
	return s.err
}

// Close ends the stream; its files are then durable, and were read back and
// found equal to the rows that were added.
func (s *Shards[T]) Close() error {
	if s.err == nil && s.open == nil && s.stream.Table != "" {
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
	s.out, s.open = f, newEncoder[T](f, s.schema, s.part)
	return nil
}

func (s *Shards[T]) finish() error {
	open, out := s.open, s.out
	s.open = nil
	if err := open.writer.Close(); err != nil {
		return fmt.Errorf("write %s: %w", out.path, err)
	}
	if err := out.Close(); err != nil {
		return err
	}
	if err := s.readBack(out.path, open.sum); err != nil {
		return err
	}
	entry := s.part.add(out, open.sum.Rows, open.decoded, s.schema)
	if entry.Longest = open.longest; open.clean != nil {
		entry.Clean, entry.Redacted = true, open.clean.counts
	}
	return nil
}

func (s *Shards[T]) readBack(path string, want shard.Sum) error {
	return Parquet(s.part.fs, path, func(file *shard.File) error {
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
