package mix

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// stream reads, in order, those rows of one source that the mixture keeps.
type stream[T any] struct {
	next func() (located[T], error, bool)
	stop func()
	// total is the number of tokens of the chosen rows, written that of the rows before head.
	total   int64
	written int64
	head    located[T] // the next row; head.row is nil at the end
	source  int
}

// located is a row with its position in a source, and its number of tokens.
type located[T any] struct {
	row    *T
	place  place
	tokens int64
	// agent is the agent of the row or, for a pair, of its better attempt.
	agent string
}

// write writes the kept rows of all sources into one folder of the mixture. The rows of each source
// are spread evenly: the next row is always from the source with the smallest written share of its
// tokens.
func (k *kind[T]) write(
	ctx context.Context,
	w *mixer,
	p *portion,
) (err error) {
	p.part = filepath.Join(w.work, k.config+"-"+p.split)
	part, err := w.NewPart(p.part)
	if err != nil {
		return err
	}
	streams, err := k.streams(w, p)
	defer func() {
		for _, s := range streams {
			s.stop()
		}
	}()
	if err != nil {
		return err
	}
	out := corpus.NewShards[T](part, corpus.Stream{
		Config:  k.config,
		Profile: k.profile,
		Split:   p.split,
	})
	for len(streams) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := slices.MinFunc(streams, (*stream[T]).compare)
		if err := k.add(w, p, out, s.head); err != nil {
			return err
		}
		if err := s.advance(); err != nil {
			return err
		}
		streams = slices.DeleteFunc(streams, func(s *stream[T]) bool {
			return s.head.row == nil
		})
	}
	return finish.FirstError(out.Close, part.Close)
}

func (k *kind[T]) add(
	w *mixer,
	p *portion,
	out *corpus.Shards[T],
	x located[T],
) error {
	s := w.sources[x.place.source]
	origin := k.origin(x.row)
	if s.bank == nil {
		p.unbanked[origin.Cluster] = true
	}
	origin.Cluster, _ = w.clusterPool(s, origin.Cluster, p.split)
	if k.stamp != nil {
		if err := k.stamp(x.row, s.SHA256, int64(len(p.order))); err != nil {
			return err
		}
	}
	p.order = append(p.order, x.place)
	row := figures.RowOf(x.row)
	row.Agent = cmp.Or(row.Agent, x.agent)
	p.figures.Add(k.config, p.split, row)
	return out.Add(x.row)
}

// streams returns, for each source that has rows to write, a stream that reads these rows in order.
// The caller must stop the streams, also after an error.
func (k *kind[T]) streams(w *mixer, p *portion) ([]*stream[T], error) {
	var out []*stream[T]
	start := 0
	for i := range w.sources {
		end := start
		total := int64(0)
		for ; end < len(p.entries) && p.entries[end].Source == i; end++ {
			if p.entries[end].Reason == "" {
				total += p.entries[end].Tokens
			}
		}
		s := &stream[T]{total: total, source: i}
		s.next, s.stop = iter.Pull2(k.chosen(w, i, p.split, p.entries[start:end]))
		start = end
		out = append(out, s)
		if err := s.advance(); err != nil {
			return out, err
		}
		if s.head.row == nil {
			out = out[:len(out)-1]
		}
	}
	return out, nil
}

var errStop = errors.New("no more rows are wanted")

// chosen returns an iterator over those rows of a source that the mixture keeps. entries has the
// decision on each row of the source in this config and split.
func (k *kind[T]) chosen(
	w *mixer,
	source int,
	split string,
	entries []entry,
) iter.Seq2[located[T], error] {
	return func(yield func(located[T], error) bool) {
		n := 0
		for _, path := range w.sources[source].Files(k.profile, split) {
			pos := place{source: source, path: path}
			err := corpus.ReadRows(w.FS, w.sources[source].Path(path), func(row *T) error {
				e := &entries[n]
				n++
				if e.Reason == "" && !yield(located[T]{row, pos, e.Tokens, cmp.Or(e.Agents...)}, nil) {
					return errStop
				}
				pos.row++
				return nil
			})
			if err != nil {
				if !errors.Is(err, errStop) {
					yield(located[T]{}, err)
				}
				return
			}
		}
	}
}

// advance moves the stream to the next row to write: it counts the tokens of the row in s.head as
// written, and reads the next row into s.head.
func (s *stream[T]) advance() error {
	s.written += s.head.tokens
	x, err, ok := s.next()
	if !ok {
		x = located[T]{}
	}
	s.head = x
	return err
}

// compare orders two sources by the share of their tokens that has been written so far, the smaller
// share first. With equal shares, the source with the lower index is first. The next row is written
// from the first source.
func (s *stream[T]) compare(t *stream[T]) int {
	a := float64(s.written) * float64(t.total)
	b := float64(t.written) * float64(s.total)
	return cmp.Or(cmp.Compare(a, b), cmp.Compare(s.source, t.source))
}
