package lexical

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Join finds pairs of requests in the bank that are so similar that one would be dropped for the
// other at the default threshold, and calls join with their indices in the bank. It skips pairs for
// which group, called with either index, returns the same, since they are in one group already. It
// compares on all cores and calls group and join from one goroutine. The only error is that of ctx.
func Join(
	ctx context.Context,
	bank []Request,
	group func(i int) int,
	join func(i, j int),
) error {
	x := New(bank)
	workers := make([]joiner, runtime.GOMAXPROCS(0))
	for i := range workers {
		workers[i] = joiner{index: x, scratch: x.newScratch()}
	}
	distinct := x.distinctTexts(bank)
	for batch := range slices.Chunk(distinct, joinBatch*len(workers)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		groups := slicesx.Map(x.entry, group)
		var wait sync.WaitGroup
		for i := range workers {
			w := &workers[i]
			w.groups = groups
			wait.Go(func() { w.findPairs(batch, i, len(workers)) })
		}
		wait.Wait()
		for i := range workers {
			for _, pair := range workers[i].pairs {
				join(x.entry[pair[0]], x.entry[pair[1]])
			}
		}
	}
	return nil
}

// joinBatch is the number of requests that a worker compares with all others before the groups are
// joined: few enough that the members of a large group are soon compared no more.
const joinBatch = 64

// joiner is one worker of Join. groups holds the group of each request of the index, pairs the pairs
// that the worker found in the current batch.
type joiner struct {
	index   *Index
	scratch *scratch
	groups  []int
	pairs   [][2]int32
}

// findPairs compares every request of a batch whose position, divided by n, leaves the remainder
// first with the requests of other groups.
func (w *joiner) findPairs(batch []int32, first, n int) {
	w.pairs = w.pairs[:0]
	for k := first; k < len(batch); k += n {
		i := batch[k]
		p := w.index.bases[i].profile
		for _, j := range w.index.candidates(p, w.scratch) {
			if w.groups[i] == w.groups[j] {
				continue
			}
			if w.index.compare(j, p, dropLogOdds, w.scratch).score >= dropLogOdds {
				w.pairs = append(w.pairs, [2]int32{i, j})
			}
		}
	}
}

// distinctTexts returns the index in x.bases of the first request with each text.
func (x *Index) distinctTexts(bank []Request) []int32 {
	var first []int32
	seen := map[string]bool{}
	for i, entry := range x.entry {
		if !seen[bank[entry].Text] {
			seen[bank[entry].Text] = true
			first = append(first, int32(i)) //nolint:gosec // a bank has fewer
		}
	}
	return first
}
