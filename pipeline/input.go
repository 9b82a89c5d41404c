package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/traces"
)

// input is what one block is made of: a file, or several small ones.
type input struct {
	files []traces.Input
	bytes int64
	key   block.Key
	dir   string
}

// Days that hold one attempt a file have as many small files as attempts, and a
// block is four files. A file is small below smallFile bytes as stored; more than
// fewBlocks of them share blocks, some filesABlock in each.
const (
	smallFile   = 256 << 10
	fewBlocks   = 64
	filesABlock = 1 << 10
)

// inputsOf parts files into inputs, in an order that no path decides. Which
// small files share a block depends on the first bits of their hashes, so that
// one file more changes one block.
func inputsOf(files []traces.Input) []input {
	isSmall := func(f traces.Input) bool { return f.Bytes < smallFile }
	small := 0
	for i := range files {
		if isSmall(files[i]) {
			small++
		}
	}
	blocks := 0
	if small > fewBlocks {
		blocks = max(fewBlocks, 1<<bits.Len(uint((small-1)/filesABlock)))
	}
	var out []input
	shared := make([][]traces.Input, blocks)
	for i := range files {
		if blocks > 0 && isSmall(files[i]) {
			first, _ := strconv.ParseUint(files[i].SHA256[:min(8, len(files[i].SHA256))], 16, 32) // a hash is hex
			at := first * uint64(blocks) >> 32
			shared[at] = append(shared[at], files[i])
		} else {
			out = append(out, newInput(files[i:i+1]))
		}
	}
	for _, some := range shared {
		if len(some) > 0 {
			out = append(out, newInput(some))
		}
	}
	slices.SortStableFunc(out, func(a, b input) int {
		return cmp.Or(cmp.Compare(a.key.Input, b.key.Input), cmp.Compare(a.key.Meta, b.key.Meta))
	})
	return out
}

func newInput(files []traces.Input) input {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b traces.Input) int {
		return cmp.Or(cmp.Compare(a.SHA256, b.SHA256), cmp.Compare(metaOf(&a), metaOf(&b)))
	})
	in := input{files: files}
	hashes, metas := make([]string, len(files)), make([]string, len(files))
	for i := range files {
		in.bytes += files[i].Bytes
		hashes[i], metas[i] = files[i].SHA256, metaOf(&files[i])
	}
	in.key = block.Key{Input: files[0].SHA256, Meta: metaOf(&files[0])}
	if len(files) > 1 {
		in.key.Input, in.key.Meta = finish.Digest(hashes...), finish.Digest(metas...)
	}
	return in
}

// metaOf names what a file's neighbours and path say of its attempts beside their
// records.
func metaOf(in *traces.Input) string {
	run, problem := in.PathIDs()
	if run == "" && problem == "" {
		return in.MetaSHA256
	}
	return finish.Digest(in.MetaSHA256, run, problem)
}

func (in *input) title() string {
	if more := len(in.files) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", in.files[0].Path, more)
	}
	return in.files[0].Path
}

// attemptsAhead is how many finished attempts may wait for one that takes long.
const attemptsAhead = 4096

// Attempts works on the attempts that read emits side by side, workers at once,
// and gives take what came of each, in their order. It suits work that waits for
// servers: one long input keeps all workers busy.
func Attempts[T any](ctx context.Context, workers int, read func(context.Context, func(*arena.Trace) error) error, work func(context.Context, *arena.Trace) (T, error), take func(T) error) error {
	s := inorder.Stream[*arena.Trace, T]{Workers: workers, MaxWeight: attemptsAhead, Work: work, Take: take,
		Read: func(ctx context.Context, emit func(*arena.Trace, int64) error) error {
			return read(ctx, func(t *arena.Trace) error { return emit(t, 1) })
		}}
	return s.Run(ctx)
}
