package lexical

import (
	"context"
	"math"
	"math/bits"
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
	for done := 0; done < len(distinct); {
		if err := ctx.Err(); err != nil {
			return err
		}
		size := max(minJoinBatch*len(workers), done/joinedPerNew)
		batch := distinct[done:min(done+size, len(distinct))]
		done += len(batch)
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
// worker, at least minJoinBatch requests, and otherwise one for every joinedPerNew that were compared
// before: so few that the members of a large group are soon compared no more, and so many that there
// are few batches.
const (
	minJoinBatch = 64
	joinedPerNew = 8
)

// joiner is one of the parallel workers of Join, which finds pairs of similar protected requests.
// pairs holds the pairs that the worker found in the current batch of requests, as indices of
// Index.bases.
type joiner struct {
	*joinLists
	text    joinText
	scratch *scratch
	// request is the request that the worker compares with all others. count numbers these requests.
	request *joinRequest
	count   int32
	// rare lists the positions of the requests that share a rare key with the request, and sums holds
	// by position what these share with it by rare keys. seen holds by position the value of count when
	// a request was last in rare.
	rare  []int32
	sums  []contribution
	seen  []int32
	pairs [][2]int32
}

func newJoiner(lists *joinLists) joiner {
	n := len(lists.requests)
	return joiner{
		joinLists: lists,
		text:      newJoinText(lists.index),
		scratch:   lists.index.newScratch(),
		sums:      make([]contribution, n),
		seen:      make([]int32, n),
	}
}

// findPairs compares the requests of a batch with all other requests of the bank, and sets w.pairs
// to the pairs that are similar. It skips pairs that are in one group of similar requests already.
// It takes every n-th request of the batch, from index first on; the other workers take the rest.
func (w *joiner) findPairs(batch []int32, first, n int) {
	w.pairs = w.pairs[:0]
	for k := first; k < len(batch); k += n {
		w.count++
		w.request = &w.requests[w.position[batch[k]]]
		w.text.read(w.joinLists, w.request, w.scratch)
		w.compareRare()
		w.compareCommon()
	}
}

// compareRare compares w.request with the requests of other groups that share a rare key
// with it.
func (w *joiner) compareRare() {
	w.rare = w.rare[:0]
	t := &w.text
	for i := range t.keys[:t.common] {
		key := &t.keys[i]
		for _, pos := range key.list {
			if w.seen[pos] != w.count {
				w.seen[pos] = w.count
				w.sums[pos] = contribution{}
				w.rare = append(w.rare, pos)
			}
			w.sums[pos].add(&key.single)
		}
	}
	for _, pos := range w.rare {
		r := &w.requests[pos]
		if r.group == w.request.group {
			continue
		}
		highest := w.sums[pos]
		highest.add(&t.total)
		if t.reaches(&highest, 0, t.pairs.shared(&r.pairs), &r.joinRange) {
			w.compareAt(pos, w.sums[pos])
		}
	}
}

// compareCommon compares w.request with the requests of other groups that share common
// keys with it, and no rare one.
func (w *joiner) compareCommon() {
	t := &w.text
	group := w.members[w.request.group]
	for i := range w.blocks {
		block := &w.blocks[i]
		if !t.counter.weigh(t, &block.joinRange) {
			continue
		}
		for word := block.start / 64; 64*word < block.end; word++ {
			near := t.counter.count(word) & block.mask(word)
			if group != nil {
				near &^= group[word]
			}
			for ; near != 0; near &= near - 1 {
				pos := 64*word + bits.TrailingZeros64(near)
				if w.seen[pos] != w.count {
					w.compareAt(int32(pos), contribution{}) //nolint:gosec // a bank has fewer
				}
			}
		}
	}
}

// compareAt compares w.request with the one at this position, unless the score cannot reach the
// threshold or both are in one group. They share sum by the rare keys; it adds what they
// share by the common ones.
func (w *joiner) compareAt(pos int32, sum contribution) {
	r := &w.requests[pos]
	t := &w.text
	for i := range t.keys[t.common:] {
		key := &t.keys[t.common+i]
		if key.set[pos/64]>>(pos%64)&1 != 0 {
			sum.add(&key.single)
		}
	}
	between := t.between(sum.places, &r.joinRange)
	if !t.reaches(&sum, between, 0, &r.joinRange) || r.group == w.request.group {
		return
	}
	if pairs := t.pairs.shared(&r.pairs); t.reaches(&sum, between, pairs, &r.joinRange) {
		w.compareNumbers(r, sum, pairs)
	}
}

// compareNumbers compares w.request with r as the guard compares a text with a protected request, and
// appends the two to w.pairs if the score is high enough to drop the text. It skips what cannot reach the
// threshold by the numbers and delivery terms that both have. sum describes the words that they share,
// pairs is the share of pairs of neighbouring words.
func (w *joiner) compareNumbers(r *joinRequest, sum contribution, pairs float64) {
	x := w.index
	s := w.scratch
	b := x.bases[r.number]
	p := x.bases[w.request.number].profile
	shared, _, _ := x.sharedNumbers(b.profile, p)
	sum.number = shared - numberPrior/2
	shared, _, _ = x.sharedNumbers(p, b.profile)
	sum.textNumber = shared - numberPrior/2
	exact := r.joinRange
	exact.isLoose = false
	full, part := w.text.limits(&sum, w.text.between(sum.places, &exact), pairs, &exact)
	full += detector[service] * serviceShare(b.profile, p)
	if max(full, part) < dropLogOdds {
		return
	}

	s.mark(b)
	isNear := full >= dropLogOdds && x.features(b, p, s).score() >= dropLogOdds
	if !isNear && part >= dropLogOdds {
		start, end := x.windowRange(b, p, s)
		_, part = w.text.limits(&sum, w.text.lost(start, end, s.value), pairs, &exact)
		if part < dropLogOdds || start == end || end-start == len(p.tokens) {
			return
		}
		isNear = x.compareWindow(r.number, p.slice(start, end), s).score >= dropLogOdds
	}
	if isNear && x.overlap(r.number, p, s) {
		w.pairs = append(w.pairs, [2]int32{w.request.number, r.number})
	}
}

// overlap computes what the text p has in common with the request x.bases[number], stores it in
// s.overlaps[number], and reports whether that is enough for a full comparison. The stems of the
// text must be in s.touched, as readStems leaves them.
func (x *Index) overlap(number int32, p *profile, s *scratch) bool {
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
	x.overlapNumbers(&o, b.profile, p)
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
