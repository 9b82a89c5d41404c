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
)

type stream[T any] struct {
	next func() (located[T], error, bool)
	stop func()
	// goal are the tokens that it gives, taken those that it gave.
	goal, taken int64
	head        located[T]
	source      int
}

type located[T any] struct {
	row    *T
	at     place
	tokens int64
	// agent made it, or the better of a pair.
	agent string
}

// write writes the chosen rows of all sources, each source's spread evenly over
// the split: next is always a row of the source that has given the least of
// what it gives.
func (k *kind[T]) write(ctx context.Context, w *mixer, m *portion) (err error) {
	m.part = filepath.Join(w.work, k.config+"-"+m.split)
	part, err := w.NewPart(m.part)
	if err != nil {
		return err
	}
	streams, err := k.streams(w, m)
	defer func() {
		for _, s := range streams {
			s.stop()
		}
	}()
	if err != nil {
		return err
	}
	out := corpus.NewShards[T](part, corpus.Stream{Config: k.config, Profile: k.profile, Split: m.split})
	for len(streams) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := slices.MinFunc(streams, (*stream[T]).before)
		if err := k.add(w, m, out, s.head); err != nil {
			return err
		}
		if err := s.advance(); err != nil {
			return err
		}
		streams = slices.DeleteFunc(streams, func(s *stream[T]) bool { return s.head.row == nil })
	}
	return errors.Join(out.Close(), part.Close())
}

func (k *kind[T]) add(w *mixer, m *portion, out *corpus.Shards[T], x located[T]) error {
	s, of := w.sources[x.at.source], k.origin(x.row)
	if s.bank == nil {
		m.own[of.Cluster] = true
	}
	of.Cluster, _ = w.of(s, of.Cluster, m.split)
	if k.stamp != nil {
		if err := k.stamp(x.row, s.SHA256, int64(len(m.order))); err != nil {
			return err
		}
	}
	m.order = append(m.order, x.at)
	row := figures.Of(x.row)
	row.Agent = cmp.Or(row.Agent, x.agent)
	m.figures.Add(k.config, m.split, row)
	return out.Add(x.row)
}

func (k *kind[T]) streams(w *mixer, m *portion) ([]*stream[T], error) {
	var out []*stream[T]
	first := 0
	for i := range w.sources {
		end := first
		goal := int64(0)
		for ; end < len(m.entries) && m.entries[end].Source == i; end++ {
			if m.entries[end].Reason == "" {
				goal += m.entries[end].Tokens
			}
		}
		s := &stream[T]{goal: goal, source: i}
		s.next, s.stop = iter.Pull2(k.chosen(w, i, m.split, m.entries[first:end]))
		first = end
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

func (k *kind[T]) chosen(w *mixer, source int, split string, entries []entry) iter.Seq2[located[T], error] {
	return func(yield func(located[T], error) bool) {
		n := 0
		for _, path := range w.sources[source].Files(k.profile, split) {
			at := place{source: source, path: path}
			err := corpus.ReadRows(w.FS, w.sources[source].Path(path), func(row *T) error {
				e := &entries[n]
				n++
				if e.Reason == "" && !yield(located[T]{row, at, e.Tokens, cmp.Or(e.Agents...)}, nil) {
					return errStop
				}
				at.row++
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

// advance puts the next row at the head, none at the end.
func (s *stream[T]) advance() error {
	s.taken += s.head.tokens
	x, err, more := s.next()
	if !more {
		x = located[T]{}
	}
	s.head = x
	return err
}

func (s *stream[T]) before(o *stream[T]) int {
	a, b := float64(s.taken)*float64(o.goal), float64(o.taken)*float64(s.goal)
	return cmp.Or(cmp.Compare(a, b), cmp.Compare(s.source, o.source))
}
