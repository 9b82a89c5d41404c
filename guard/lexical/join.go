package lexical

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
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
	lists := newJoinLists(New(bank), len(bank))
	x := lists.index
	workers := make([]joiner, runtime.GOMAXPROCS(0))
	for i := range workers {
		workers[i] = newJoiner(lists)
	}
	distinct := x.distinctTexts(bank)
	size := max(minJoinBatch, len(distinct)/joinBatches) * len(workers)
	for batch := range slices.Chunk(distinct, size) {
		if err := ctx.Err(); err != nil {
			return err
		}
		lists.setGroups(group)
		var wait sync.WaitGroup
		for i := range workers {
			w := &workers[i]
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

// Join compares the requests in batches and joins the groups after each. A batch has, for each
// worker, at least minJoinBatch requests and otherwise a joinBatches-th of all: so few that the
// members of a large group are soon compared no more.
const (
	minJoinBatch = 64
	joinBatches  = 256
)

// joiner is one of the parallel workers of Join, which finds pairs of similar protected requests.
// pairs holds the pairs that the worker found in the current batch of requests, as indices of
// Index.bases.
type joiner struct {
	*joinLists
	text    joinText
	scratch *scratch
	// seen holds for each request the value of count when it was last compared. count numbers the
	// requests that the worker has compared with all others.
	seen  []int32
	count int32
	pairs [][2]int32
}

func newJoiner(lists *joinLists) joiner {
	return joiner{
		joinLists: lists,
		text:      newJoinText(lists.index),
		scratch:   lists.index.newScratch(),
		seen:      make([]int32, len(lists.index.bases)),
	}
}

// findPairs compares the requests of a batch with all other requests of the bank, and sets w.pairs
// to the pairs that are similar. It skips pairs that are in one group of similar requests already.
// It takes every n-th request of the batch, from index first on; the other workers take the rest.
func (w *joiner) findPairs(batch []int32, first, n int) {
	w.pairs = w.pairs[:0]
	for k := first; k < len(batch); k += n {
		w.count++
		w.text.read(w.joinLists, batch[k], w.scratch)
		for i := range w.text.keys {
			w.compareKey(batch[k], &w.text.keys[i])
		}
	}
}

// compareKey compares the request w.index.bases[number] with the requests that have key, one of its
// stems or numbers, in common with it. It skips requests of the same group of similar requests,
// those that were compared already because of a rarer key, and those whose score cannot reach the
// threshold.
func (w *joiner) compareKey(number int32, key *joinKey) {
	group := w.requests[number].group
	most := key.limit + detector[numbers]
	if !key.hasNumber {
		most = key.limit + detector[numbers]/2
	}
	for _, list := range key.lists {
		for _, b := range list {
			if key.id >= 0 && most+key.total.cover(w.requests[b].perWeight) < dropLogOdds {
				break // the words of all further requests of the list have more weight
			}
			if w.requests[b].group != group && w.text.reaches(w.joinLists, key, b, w.scratch) && w.seen[b] != w.count {
				w.seen[b] = w.count
				w.comparePair(number, b, key.hasNumber)
			}
		}
	}
}

// comparePair compares two protected requests, to find near-duplicates: x.bases[number] takes the
// place of the text to check, x.bases[base] that of the protected request. If the score is high
// enough to drop the text, it appends the two indices to w.pairs. hasNumber is false if the two are
// known to share no number.
func (w *joiner) comparePair(number, base int32, hasNumber bool) {
	x := w.index
	p := x.bases[number].profile
	if !x.overlap(base, p, hasNumber, w.scratch) {
		return
	}
	if x.compare(base, p, dropLogOdds, w.scratch).score >= dropLogOdds {
		w.pairs = append(w.pairs, [2]int32{number, base})
	}
}

// overlap computes what the text p has in common with the request x.bases[number], stores it in
// s.overlaps[number], and reports whether that is enough for a full comparison. The stems of the
// text must be in s.touched, as readStems leaves them. Numbers are compared only if hasNumber is
// set.
func (x *Index) overlap(number int32, p *profile, hasNumber bool, s *scratch) bool {
	b := x.bases[number]
	s.mark(b)
	var o overlap
	for _, id := range s.touched {
		if _, ok := s.termIndex(b, id); ok {
			weight := float32(x.vocabulary.weight[id] * s.best[id])
			o.cover += weight
			o.words += weight
			o.found += s.best[id]
		}
	}
	for _, w := range p.distinct {
		hasMatch := slices.ContainsFunc(w.matches, func(m match) bool {
			_, ok := s.termIndex(b, m.id)
			return ok
		})
		if hasMatch {
			o.text += float32(w.weight * w.bestMatch())
		}
	}
	if hasNumber {
		x.overlapNumbers(&o, b.profile, p)
	}
	s.overlaps[number] = o
	return x.isCovered(number, p, s)
}

// overlapNumbers adds to o the weight of the numbers of the text p that the request base has, and
// sets o.hasNumber if a number of the two may be the same, also as written without its unit.
func (x *Index) overlapNumbers(o *overlap, base, p *profile) {
	for i, n := range p.numbers {
		for _, m := range base.numbers {
			isSame := n.unit == money && n.isSameMoney(m) || n.unit != money && n.unit == m.unit && isSameKey(n.value, m.value)
			if isSame {
				o.cover += float32(x.numberWeights(p)[i])
			}
			o.hasNumber = o.hasNumber || isSame || isSameKey(n.written, m.written)
		}
	}
}

// isSameKey reports whether two values have the same key in maps of amounts: they are equal when
// rounded to nine significant digits. Values that differ by more than a millionth are told apart
// without rounding, which is faster.
func isSameKey(a, b float64) bool {
	const surelyApart = 1e-6
	if math.Abs(a-b) > surelyApart*math.Abs(a) {
		return false
	}
	return newAmount(number{value: a}) == newAmount(number{value: b})
}

// distinctTexts returns the requests of the bank (the protected requests), as indices in x.bases,
// without copies: of several with the same text the first one.
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
