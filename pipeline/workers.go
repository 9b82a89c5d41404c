package pipeline

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// each calls work for every index below n on at most workers goroutines. Each
// goroutine has a state of its own, made by start. The first error ends the
// rest; no goroutine is left when each returns.
func each[S any](ctx context.Context, workers, n int, start func() (S, error), work func(context.Context, S, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan int)
	g.Go(func() error {
		defer close(next)
		for i := range n {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range min(workers, n) {
		g.Go(func() error {
			s, err := start()
			if err != nil {
				return err
			}
			for i := range next {
				if err := work(ctx, s, i); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}
