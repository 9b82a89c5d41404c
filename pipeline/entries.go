package pipeline

import (
	"cmp"
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/pipeline/block"
)

// ref points at an entry: the position of its input, and its own in the block.
type ref struct {
	Input int `json:"i"`
	Entry int `json:"e"`
	block.Place
}

// entries calls f for every entry of every block, with these parts: in the order of the
// inputs' content, which no path decides, and of their lines, or several inputs at once.
func (s *session) entries(ctx context.Context, workers int, parts block.Part, f func(at ref, x *block.Entry) error) error {
	return each(ctx, workers, len(s.inputs), func(ctx context.Context, i int) error {
		in, err := block.Open(s.FS, s.inputs[i].dir)
		if err != nil {
			return err
		}
		defer in.Close()
		n := 0
		for x, failed := range in.All(parts) {
			if failed = cmp.Or(failed, ctx.Err()); failed == nil {
				failed = f(ref{i, n, x.Place}, x)
			}
			if failed != nil {
				return failed
			}
			n++
		}
		return nil
	})
}

// ready checks that other processes have made every block.
func (s *session) ready() error {
	for _, in := range s.inputs {
		status, err := block.State(s.FS, in.dir, in.key)
		if err != nil {
			return err
		}
		if status != block.Equal && status != block.Unfinished {
			return fmt.Errorf("read block of %s: %s: run the map step on all shards first", in.title(), status)
		}
	}
	return nil
}

// each calls work for every index below n on at most workers goroutines. The
// first error ends the rest; no goroutine is left when each returns.
func each(ctx context.Context, workers, n int, work func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return work(ctx, i)
		})
	}
	return g.Wait()
}
