package lexical

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// joinLists lists the requests of an index by their stems and numbers, so that Join, which finds
// pairs of similar requests, can skip requests that cannot be similar to a text.
type joinLists struct {
	index *Index
	// requests are the requests of the index by position, and position holds the position of each.
	// Positions order requests by the weights of their numbers and words, so that those of one block,
	// blockWords*64 positions, are alike in them. blocks has the ranges of these weights.
	requests []joinRequest
	position []int32
	blocks   []joinRange
	// stems has the requests with each stem by vocabulary id, amounts those with each number, and
	// written those with each number as written without its unit.
	stems            []postings
	amounts, written map[amount]postings
	// prices has by priceRange the requests with a number that may be equal to a converted amount in this
	// range, and converted those with a converted amount that may be equal to a number without a unit.
	converted, prices map[int]postings
	// sizes holds the number of requests of each group, and members the set of these requests for the
	// groups that are common.
	sizes   []int32
	members map[int32][]uint64
}

// blockWords is the size of a block of requests: the number of 64-bit words of a set of them.
const blockWords = 16

// joinRequest is a request as Join compares it: its index in Index.bases, its group, the number of
// its different pairs of neighbouring words, and the set of those that are among the most frequent.
type joinRequest struct {
	joinRange
	number, group, nPairs int32
	pairs                 [pairWords]uint64
}

// pairWords is the number of 64-bit words of a set of frequent pairs of neighbouring words.
const pairWords = 4

// joinRange is what a bound of the score needs to know of one request or of several: perWeight is
// what a shared word of weight 1 adds to the score at most, and lowest and highest are the lowest and the
// highest total weight of the numbers of a request. isLoose reports that a request may share more
// numbers with a text than the text's keys tell.
type joinRange struct {
	perWeight, lowest, highest float64
	isLoose                    bool
}

// postings are the requests that have a stem or a number: their positions as a list if they are
// few, or else as a set. count is their number.
type postings struct {
	list  []int32
	set   []uint64
	count int
}

// newJoinLists returns the lists by which Join finds protected requests with common stems. n is the
// number of all protected requests, those without a text included.
func newJoinLists(x *Index, n int) *joinLists {
	l := &joinLists{
		index:    x,
		position: make([]int32, len(x.bases)),
		amounts:  map[amount]postings{},
		written:  map[amount]postings{},
		sizes:    make([]int32, n),
		members:  map[int32][]uint64{},

		converted: map[int]postings{},
		prices:    map[int]postings{},
	}
	pairs := x.frequentPairs()
	for i := range x.bases {
		l.requests = append(l.requests, x.newJoinRequest(int32(i), pairs)) //nolint:gosec // a bank has fewer
	}
	l.sortRequests()
	for _, bases := range x.postings {
		l.stems = append(l.stems, l.newPostings(bases))
	}
	for key, bases := range x.holders {
		l.amounts[key] = l.newPostings(bases)
	}
	for key, bases := range x.written {
		l.written[key] = l.newPostings(bases)
	}
	for i := range x.prices {
		for near := i - 1; near <= i+1; near++ {
			l.addPrices(near)
		}
	}
	return l
}

// sortRequests sorts l.requests and sets l.position and l.blocks.
func (l *joinLists) sortRequests() {
	slicesx.SortFunc(l.requests, func(a, b joinRequest) int {
		return cmp.Or(
			cmp.Compare(math.Floor(a.highest), math.Floor(b.highest)),
			cmp.Compare(b.perWeight, a.perWeight),
			int(a.number-b.number),
		)
	})
	l.blocks = make([]joinRange, (len(l.requests)+64*blockWords-1)/(64*blockWords))
	for i := range l.blocks {
		l.blocks[i].lowest = math.MaxFloat64
	}
	for i, r := range l.requests {
		l.position[r.number] = int32(i) //nolint:gosec // a bank has fewer
		l.blocks[i/(64*blockWords)].add(&r.joinRange)
	}
}

// addPrices adds to l.prices and l.converted the requests with amounts near those of range i.
func (l *joinLists) addPrices(i int) {
	if _, ok := l.prices[i]; ok {
		return
	}
	var prices, converted []int32
	for _, key := range l.index.pricesNear(i) {
		prices = append(prices, l.index.holders[key]...)
		if key.unit == money {
			converted = append(converted, l.index.holders[key]...)
		}
	}
	l.prices[i] = l.newPostings(prices)
	l.converted[i] = l.newPostings(converted)
}

// frequentPairs returns numbers, from 0 on, of the most frequent pairs of neighbouring words in the
// requests, by the hashes of the pairs.
func (x *Index) frequentPairs() map[uint64]int {
	counts := map[uint64]int{}
	for _, b := range x.bases {
		for _, hash := range b.profile.wordPairs() {
			counts[hash]++
		}
	}
	hashes := slices.Collect(maps.Keys(counts))
	slicesx.SortFunc(hashes, func(a, b uint64) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	pairs := map[uint64]int{}
	for i, hash := range hashes[:min(len(hashes), 64*pairWords)] {
		pairs[hash] = i
	}
	return pairs
}

// newJoinRequest returns the request x.bases[number] without its group. pairs numbers the frequent
// pairs of neighbouring words by their hashes.
func (x *Index) newJoinRequest(number int32, pairs map[uint64]int) joinRequest {
	p := x.bases[number].profile
	total := float64(x.numberTotals[number])
	r := joinRequest{number: number}
	r.perWeight = ratio(detector[coverBase], float64(x.wordTotals[number]))
	r.lowest = total
	r.highest = total
	keys := map[amount]bool{}
	for _, n := range p.numbers {
		r.isLoose = r.isLoose || keys[newAmount(n)]
		keys[newAmount(n)] = true
	}
	for _, hash := range p.wordPairs() {
		r.nPairs++
		if i, ok := pairs[hash]; ok {
			r.pairs[i/64] |= 1 << (i % 64)
		}
	}
	return r
}

// add extends the range by another one.
func (r *joinRange) add(o *joinRange) {
	r.perWeight = max(r.perWeight, o.perWeight)
	r.lowest = min(r.lowest, o.lowest)
	r.highest = max(r.highest, o.highest)
	r.isLoose = r.isLoose || o.isLoose
}

// commonShare is the share of all requests, as a divisor, from which on a stem or number is common:
// the set of its requests has at most commonShare/32 times the size of the list.
const commonShare = 256

// newPostings returns the requests with these indices in Index.bases.
func (l *joinLists) newPostings(bases []int32) postings {
	p := postings{count: len(bases)}
	if p.isRare(l) {
		p.list = slicesx.Map(bases, func(b int32) int32 { return l.position[b] })
		return p
	}
	p.set = l.newSet()
	for _, b := range bases {
		pos := l.position[b]
		p.set[pos/64] |= 1 << (pos % 64)
	}
	return p
}

func (p *postings) isRare(l *joinLists) bool { return p.count <= int(l.mostRare()) }

// mostRare returns the highest number of requests of a stem, number or group that is not common.
func (l *joinLists) mostRare() int32 { return int32(len(l.requests) / commonShare) }

// newSet returns an empty set of positions.
func (l *joinLists) newSet() []uint64 { return make([]uint64, len(l.blocks)*blockWords) }

// setGroups records the current group of each request, as group returns it for the request's index
// in the bank: requests found similar so far are in one group and need no comparison.
func (l *joinLists) setGroups(group func(i int) int) {
	clear(l.sizes)
	for i := range l.requests {
		r := &l.requests[i]
		r.group = int32(group(l.index.entry[r.number])) //nolint:gosec // a bank has fewer
		l.sizes[r.group]++
	}
	for i, size := range l.sizes {
		number := int32(i) //nolint:gosec // a bank has fewer
		switch set := l.members[number]; {
		case size <= l.mostRare():
			delete(l.members, number)
		case set == nil:
			l.members[number] = l.newSet()
		default:
			clear(set)
		}
	}
	for i := range l.requests {
		if set := l.members[l.requests[i].group]; set != nil {
			set[i/64] |= 1 << (i % 64)
		}
	}
}

// joinText is a protected request that Join compares with the other ones as if it were a text to
// check.
type joinText struct {
	// keys are the stems and numbers that a request can share with the text, rarest first. Those from
	// index common on are common. totals holds what each of these and all after it add to the score
	// together, and 0 at index len(keys).
	keys   []joinKey
	common int
	totals []contribution
	// keyIndex is the index in keys by vocabulary id, valid until they are sorted.
	keyIndex []int32
	// textWeight and numberWeight are the total weights of the text's words and of its numbers.
	textWeight, numberWeight float64
	// hasWindow reports whether a part of the text may be compared too.
	hasWindow bool
	// hitTerms caches the results of the method hits.
	hitTerms []float64
}

// joinKey is a stem or a number of a text, with the requests that have it. single is what the key
// adds alone.
type joinKey struct {
	postings
	single contribution
}

// contribution is what a text and a request share: the weight of words of the request, the sum of
// the similarities of these words, the weight of words of the text, and the weights of numbers of the
// request and of the text.
type contribution struct{ weight, similar, text, number, textNumber float64 }

func (c *contribution) add(o *contribution) {
	c.weight += o.weight
	c.similar += o.similar
	c.text += o.text
	c.number += o.number
	c.textNumber += o.textNumber
}

func newJoinText(x *Index) joinText { return joinText{keyIndex: make([]int32, len(x.postings))} }

// read sets t to the request with this index in Index.bases, to be compared with the others. It
// sets s.touched to the ids of the request's stems, s.best to their similarities, and s.textWeight
// and s.numberWeight to the total weights of its words and numbers.
func (t *joinText) read(l *joinLists, number int32, s *scratch) {
	x := l.index
	p := x.bases[number].profile
	readStems(p, s)
	t.keys = t.keys[:0]
	for i, id := range s.touched {
		t.keyIndex[id] = int32(i) //nolint:gosec // a text has fewer
		single := contribution{weight: float64(x.vocabulary.weight[id] * s.best[id]), similar: float64(s.best[id])}
		t.keys = append(t.keys, joinKey{l.stems[id], single})
	}
	for _, w := range p.distinct {
		for _, m := range w.matches {
			t.keys[t.keyIndex[m.id]].single.text += float64(w.weight * w.bestMatch())
		}
	}
	s.numberWeight = 0
	for i, n := range p.numbers {
		s.numberWeight += x.numberWeights(p)[i]
		t.addNumber(l, n, x.numberWeights(p)[i])
	}
	t.textWeight = s.textWeight
	t.numberWeight = s.numberWeight
	t.hasWindow = mayHaveWindow(p.tokens)
	t.sortKeys(l)
}

// addNumber adds the keys of a number of the text, which has this weight.
func (t *joinText) addNumber(l *joinLists, n number, weight float64) {
	anyWeight := contribution{number: math.MaxFloat32, textNumber: weight}
	written := l.written[newWritten(n)]
	if n.value > 0 && (n.unit == money || n.unit == 0) {
		near := l.converted
		if n.unit == money {
			near = l.prices
		}
		t.keys = append(t.keys, joinKey{near[priceRange(n.value)], anyWeight})
	}
	if n.unit == money {
		t.keys = append(t.keys, joinKey{written, anyWeight})
		return
	}
	equal := l.amounts[newAmount(n)]
	// All requests that may have the number have it with the same unit and so with the same weight.
	if slices.Equal(equal.list, written.list) && slices.Equal(equal.set, written.set) {
		t.keys = append(t.keys, joinKey{equal, contribution{number: weight, textNumber: weight}})
		return
	}
	t.keys = append(t.keys, joinKey{equal, anyWeight}, joinKey{written, anyWeight})
}

// sortKeys sorts the keys of the text by the number of their requests and sets t.totals.
func (t *joinText) sortKeys(l *joinLists) {
	slicesx.SortFunc(t.keys, func(a, b joinKey) int { return a.count - b.count })
	t.common = len(t.keys)
	t.totals = append(t.totals[:0], make([]contribution, len(t.keys)+1)...)
	for i := len(t.keys) - 1; i >= 0 && !t.keys[i].isRare(l); i-- {
		t.common = i
		t.totals[i] = t.totals[i+1]
		t.totals[i].add(&t.keys[i].single)
	}
}

// readStems sets s.touched to the vocabulary ids of the stems that words of the text p are similar
// to, s.best to the highest similarity of each, and s.textWeight to the total weight of these
// words.
func readStems(p *profile, s *scratch) {
	for _, id := range s.touched {
		s.best[id] = 0
	}
	s.touched = s.touched[:0]
	s.textWeight = 0
	for _, w := range p.distinct {
		if len(w.matches) > 0 {
			s.textWeight += float64(w.weight)
		}
		for _, m := range w.matches {
			if s.best[m.id] == 0 {
				s.touched = append(s.touched, m.id)
			}
			s.best[m.id] = max(s.best[m.id], m.sim)
		}
	}
}

// bestMatch returns the similarity, 0 to 1, of the word to the most similar stem in the protected
// requests. It returns 0 if no stem is similar.
func (w *word) bestMatch() float32 {
	best := float32(0)
	for _, m := range w.matches {
		best = max(best, m.sim)
	}
	return best
}

// reaches reports whether the score of a request in the range r that shares sum with the text may
// reach the threshold.
func (t *joinText) reaches(sum *contribution, r *joinRange) bool {
	full, part := t.limits(sum, r)
	return max(full, part) >= dropLogOdds
}

// limits returns upper bounds of the score of the requests in the range r that share sum with the
// text: that of the full text and that of a part of it, minus infinity if the text has no part.
func (t *joinText) limits(sum *contribution, r *joinRange) (full, part float64) {
	shared := sum.number
	if r.isLoose {
		shared = math.MaxFloat32
	}
	total := min(max(shared, r.lowest), r.highest) // of the request with the highest share
	inRequest := (numberPrior/2 + min(shared, total)) / (numberPrior + total)
	shared = t.numberWeight
	if !r.isLoose {
		shared = min(shared, sum.textNumber)
	}
	inText := (numberPrior/2 + shared) / (numberPrior + t.numberWeight)
	score := detectorBias + joinRounding + t.hits(sum.similar) + sum.cover(r.perWeight) + detector[numbers]*inRequest
	full = score + detector[coverText]*min(1, ratio(sum.text, t.textWeight)) + detector[numbersBack]*inText
	if !t.hasWindow {
		return full, math.Inf(-1)
	}
	inPart := (numberPrior/2 + shared) / (numberPrior + shared)
	return full, score + detector[coverText] + detector[numbersBack]*inPart + detector[windowed]
}

// joinRounding is added to upper bounds of scores. It is more than the rounding error of the sums,
// so that no pair is skipped because of rounding.
const joinRounding = 0.002

// hitSteps is the number of steps for each shared word in the table that joinText.hits reads: a
// count of shared words, which may be a fraction, is rounded up to a multiple of 1/hitSteps.
const hitSteps = 64

// hits returns what a count of shared words adds to the score. Words that are only similar count
// less than 1 each. The count is rounded up to a multiple of 1/hitSteps, so that the result is read
// from a table and never too low.
func (t *joinText) hits(words float64) float64 {
	i := min(int(words*hitSteps), math.MaxUint16)
	for len(t.hitTerms) <= i {
		t.hitTerms = append(t.hitTerms, detector[hits]*math.Log1p(float64(len(t.hitTerms)+1)/hitSteps))
	}
	return t.hitTerms[i]
}

// cover returns how much the words that a text shares with a request raise the score. perWeight is
// the score for a word of weight 1; the result is at most that of a text with all words of the
// request.
func (c *contribution) cover(perWeight float64) float64 {
	return min(detector[coverBase], c.weight*perWeight)
}
