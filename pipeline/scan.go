package pipeline

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/traces"
)

// Inputs works on inputs side by side, workers at once, and gives take what came
// of each, in their order. It suits work that costs no more than reading does.
// The first error, by the order of the inputs, ends it.
func Inputs[T any](ctx context.Context, inputs []traces.Input, workers int, work func(context.Context, *traces.Input) (T, error), take func(T) error) error {
	s := inorder.Stream[*traces.Input, T]{Workers: workers, Ahead: max(1, int64(len(inputs))), Work: work, Take: take,
		Read: func(_ context.Context, emit func(*traces.Input, int64) error) error {
			for i := range inputs {
				if err := emit(&inputs[i], 1); err != nil {
					return err
				}
			}
			return nil
		}}
	return s.Run(ctx)
}

// attemptsAhead is how many finished attempts may wait for one that takes long.
const attemptsAhead = 4096

// Attempts works on the attempts that read emits side by side, workers at once,
// and gives take what came of each, in their order. It suits work that waits for
// servers: one long input keeps all workers busy. Errors are those of Inputs.
func Attempts[T any](ctx context.Context, workers int, read func(context.Context, func(*arena.Trace) error) error, work func(context.Context, *arena.Trace) (T, error), take func(T) error) error {
	s := inorder.Stream[*arena.Trace, T]{Workers: workers, Ahead: attemptsAhead, Work: work, Take: take,
		Read: func(ctx context.Context, emit func(*arena.Trace, int64) error) error {
			return read(ctx, func(t *arena.Trace) error { return emit(t, 1) })
		}}
	return s.Run(ctx)
}
