// Package inorder processes the values of a stream in parallel and returns the results in the
// order of the values.
package inorder

import (
	"context"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

// MaxWorkers is the maximum number of workers that a user may ask for. It is also the maximum number
// of values, of any weight, that a stream has read and whose results Take has not received yet, so
// that more workers would have nothing to do.
const MaxWorkers = 4096

// Stream processes values of type A to results of type B in several goroutines.
type Stream[A, B any] struct {
	// Workers is the number of goroutines that call Work, at least 1. More than MaxWorkers are never
	// started.
	Workers int
	// MaxWeight, at least 1, is the maximum total weight of the values that were emitted and
	// whose results Take has not received yet. A heavier value is processed alone.
	MaxWeight int64
	// Read emits the values with their weights, which must not be negative. It runs in a
	// separate goroutine and must return once emit returns an error.
	Read func(ctx context.Context, emit func(value A, weight int64) error) error
	// Work processes one value. All workers call it. After its first error, no more values are
	// read.
	Work func(ctx context.Context, value A) (B, error)
	// Take receives the results in the order of the values. Only one goroutine calls it.
	Take func(B) error
}

// List processes the items of a list like Run processes the values of a stream. It is for work
// that is as cheap as reading.
func List[A, B any](
	ctx context.Context,
	workers int,
	items []A,
	work func(context.Context, A) (B, error),
	take func(B) error,
) error {
	s := Stream[A, B]{
		Workers:   workers,
		MaxWeight: max(1, int64(len(items))),
		Work:      work,
		Take:      take,
	}
	s.Read = func(_ context.Context, emit func(A, int64) error) error {
		for _, item := range items {
			if err := emit(item, 1); err != nil {
				return err
			}
		}
		return nil
	}
	return s.Run(ctx)
}

// Each calls work for every index below n on at most workers goroutines. The first error stops
// the others. No goroutine is running when Each returns.
func Each(
	ctx context.Context,
	workers, n int,
	work func(context.Context, int) error,
) error {
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

// job is a value that is being processed. When done is closed, result and err are the results of
// Work.
type job[A, B any] struct {
	value  A
	weight int64
	result B
	err    error
	done   chan struct{}
}

// Run runs the stream. It returns when the last result was taken, or with the first error. Of
// several errors of Work and Take, it returns that of the earliest value. No goroutine is
// running when Run returns.
func (s *Stream[A, B]) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	budget := semaphore.NewWeighted(s.MaxWeight)
	jobs := make(chan *job[A, B])
	order := make(chan *job[A, B], MaxWorkers)
	reading, stop := context.WithCancel(ctx)
	defer stop()
	group.Go(func() error {
		defer close(jobs)
		defer close(order)
		err := s.Read(reading, func(value A, weight int64) error {
			weight = min(weight, s.MaxWeight)
			if err := budget.Acquire(reading, weight); err != nil {
				return err
			}
			j := &job[A, B]{
				value:  value,
				weight: weight,
				done:   make(chan struct{}),
			}
			if err := send(ctx, order, j); err != nil {
				return err
			}
			return send(ctx, jobs, j)
		})
		if reading.Err() != nil {
			return ctx.Err() // take returns the error of Work in its order
		}
		return err
	})
	for range min(s.Workers, MaxWorkers) {
		group.Go(func() error {
			for j := range jobs {
				if j.result, j.err = s.Work(ctx, j.value); j.err != nil {
					stop()
				}
				j.value = *new(A) // free it: Take may be much later
				close(j.done)
			}
			return nil
		})
	}
	group.Go(func() error {
		return s.take(ctx, order, budget)
	})
	return group.Wait()
}

func (s *Stream[A, B]) take(
	ctx context.Context,
	order <-chan *job[A, B],
	budget *semaphore.Weighted,
) error {
	for j := range order {
		select {
		case <-j.done:
			if j.err != nil {
				return j.err
			}
			if err := s.Take(j.result); err != nil {
				return err
			}
			budget.Release(j.weight)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func send[T any](
	ctx context.Context,
	dst chan<- T,
	value T,
) error {
	select {
	case dst <- value:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
