package corpus

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/parquet-go/parquet-go"
)

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
func (g *Group[T]) Add(v *T) error { return g.open.add(v) }

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
	s.open.sum.Join(g.open.sum)
	s.open.decoded += g.open.decoded
	s.open.longest.Join(g.open.longest)
	if c := s.open.clean; c != nil {
		c.counts.Add(g.open.clean.counts)
	}
	buffers.Put(g.data)
	return nil
}
