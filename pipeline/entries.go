package pipeline

import (
	"context"
	"fmt"

	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// ref is the position of an entry (the stored result of one record): the index of its input, the
// index of the entry within the input, and its byte range in the index file.
type ref struct {
	Input int `json:"i"`
	Entry int `json:"e"`
	block.Place
}

// eachEntry calls visit for every entry (the stored result of one record) of all inputs. Only the
// given parts of an entry are read. One worker visits the inputs in order and the entries of each
// in order; several workers read several inputs at once. An entry is valid only during its call.
// Without block.PartFound, the fields that depend on this run are not set: Problem and Leak.
func (s *session) eachEntry(
	ctx context.Context,
	workers int,
	parts block.Part,
	visit func(pos ref, x *block.Entry) error,
) error {
	return inorder.Each(ctx, workers, len(s.inputs), func(ctx context.Context, i int) error {
		r := &blockReader{}
		isComplete := parts&block.PartFound != 0
		var err error
		if isComplete {
			r, err = s.openBlock(i)
		} else {
			r.Reader, err = block.Open(s.FS, s.inputs[i].dir)
		}
		if err != nil {
			return err
		}
		defer r.Close()
		n := 0
		for x, err := range r.All(parts) {
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if isComplete {
				r.complete(x, n)
			}
			if err := visit(ref{i, n, x.Place}, x); err != nil {
				return err
			}
			n++
		}
		return nil
	})
}

// checkBlocks returns an error unless every input has a block (its results, stored by the map step)
// that this run can use. A block that lacks only some answers of a judge is usable. The error is
// that of the first unusable input, for any number of workers.
func (s *session) checkBlocks(ctx context.Context) error {
	check := func(_ context.Context, in input) (any, error) {
		status, err := s.blockState(in)
		if err != nil {
			return nil, err
		}
		if status != block.Equal && status != block.Unfinished {
			return nil, fmt.Errorf("read block of %s: %s: run the map step on all shards first", in.title(), status)
		}
		return nil, nil
	}
	return inorder.List(ctx, s.Config.Workers, s.inputs, check, func(any) error {
		return nil
	})
}
