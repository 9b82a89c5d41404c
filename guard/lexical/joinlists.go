package lexical

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// joinLists lists the requests of an index by their stems and numbers, so that Join, which finds
// pairs of similar requests, can skip requests that cannot be similar to a text.
type joinLists struct {
	index *Index
	// requests are the requests of the index by position, and position holds the position of each.
	// Positions order requests by the weights of their numbers and words and by their most frequent
	// pairs of neighbouring words, so that those of one block are alike in them.
	requests []joinRequest
	position []int32
	blocks   []joinBlock
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
	// pairs numbers the frequent pairs of neighbouring words, from 0 on, by their hashes.
	pairs map[uint64]int
}

// blockSize is the maximum number of requests of a block.
const blockSize = 1024

// joinBlock describes requests at neighbouring positions, from start to before end, that are alike.
type joinBlock struct {
	joinRange
	start, end int
}

// mask returns the set of the positions of the block that are in the 64-bit word with this index.
func (b *joinBlock) mask(word int) uint64 {
	first := uint64(math.MaxUint64) << max(0, b.start-64*word)
	last := uint64(math.MaxUint64) >> max(0, 64*word+64-b.end)
	return first & last
}

// joinRequest is a request as Join compares it: its index in Index.bases and its group.
type joinRequest struct {
	joinRange
	number, group int32
}

// wordPairs describes the pairs of neighbouring words of a text: the number of different ones, and the
// set of those that are among the most frequent of all requests. Of several texts, it has the highest
// number and the set of the pairs that all of them have.
type wordPairs struct {
	count int32
	set   [4]uint64
}

// shared returns the share of pairs of neighbouring words, 0 to 1 of those of the shorter text, that
// two texts have in common at least.
func (p *wordPairs) shared(o *wordPairs) float64 {
	n := 0
	for i, word := range p.set {
		n += bits.OnesCount64(word & o.set[i])
	}
	return float64(n) / float64(max(1, min(p.count, o.count)))
}

// joinRange is what a bound of the score needs to know of one request or of several: perWeight is
// what a shared word of weight 1 adds to the score at most, and lowest and highest are the lowest and the
// highest total weight of the numbers of a request. isLoose reports that a request may share more
// numbers with a text than the text's keys tell. tokens is the lowest number of tokens of a request.
type joinRange struct {
	perWeight, lowest, highest float64
	isLoose                    bool
	tokens                     int
	// words is the highest number of different words of a request, and weight the highest total weight of
	// these.
	words, weight float64
	pairs         wordPairs
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
	l.pairs = x.frequentPairs()
	for i := range x.bases {
		l.requests = append(l.requests, l.newJoinRequest(int32(i))) //nolint:gosec // a bank has fewer
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
			a.compareClass(&b.joinRange),
			cmp.Compare(bits.Reverse64(a.pairs.set[0]), bits.Reverse64(b.pairs.set[0])),
			int(a.number-b.number),
		)
	})
	for i := range l.requests {
		r := &l.requests[i]
		l.position[r.number] = int32(i) //nolint:gosec // a bank has fewer
		last := len(l.blocks) - 1
		if last < 0 || i-l.blocks[last].start == blockSize || r.compareClass(&l.requests[i-1].joinRange) != 0 {
			l.blocks = append(l.blocks, joinBlock{r.joinRange, i, i + 1})
			continue
		}
		l.blocks[last].add(&r.joinRange)
		l.blocks[last].end = i + 1
	}
}

// compareClass compares two requests by their classes: requests of one class have similar weights of
// numbers and of words.
func (r *joinRange) compareClass(o *joinRange) int {
	return cmp.Or(
		cmp.Compare(math.Floor(2*math.Log(2+r.highest)), math.Floor(2*math.Log(2+o.highest))),
		cmp.Compare(math.Floor(2*math.Log(r.perWeight)), math.Floor(2*math.Log(o.perWeight))),
	)
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
	for i, hash := range hashes[:min(len(hashes), 64*len(wordPairs{}.set))] {
		pairs[hash] = i
	}
	return pairs
}

// newPairs returns the pairs of neighbouring words of the text p.
func (l *joinLists) newPairs(p *profile) wordPairs {
	var pairs wordPairs
	for _, hash := range p.wordPairs() {
		pairs.count++
		if i, ok := l.pairs[hash]; ok {
			pairs.set[i/64] |= 1 << (i % 64)
		}
	}
	return pairs
}

// newJoinRequest returns the request with this index in Index.bases, without its group.
func (l *joinLists) newJoinRequest(number int32) joinRequest {
	x := l.index
	p := x.bases[number].profile
	total := float64(x.numberTotals[number])
	r := joinRequest{number: number}
	r.perWeight = ratio(detector[coverBase], float64(x.wordTotals[number]))
	r.lowest = total
	r.highest = total
	for i, n := range p.numbers {
		for _, o := range p.numbers[:i] {
			r.isLoose = r.isLoose || newAmount(n) == newAmount(o) || newWritten(n) == newWritten(o)
		}
	}
	r.pairs = l.newPairs(p)
	r.tokens = len(p.tokens)
	r.words = float64(len(x.bases[number].terms))
	r.weight = float64(x.wordTotals[number])
	return r
}

// add extends the range by another one.
func (r *joinRange) add(o *joinRange) {
	r.tokens = min(r.tokens, o.tokens)
	r.words = max(r.words, o.words)
	r.weight = max(r.weight, o.weight)
	r.perWeight = max(r.perWeight, o.perWeight)
	r.lowest = min(r.lowest, o.lowest)
	r.highest = max(r.highest, o.highest)
	r.isLoose = r.isLoose || o.isLoose
	r.pairs.count = max(r.pairs.count, o.pairs.count)
	for i := range r.pairs.set {
		r.pairs.set[i] &= o.pairs.set[i]
	}
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
func (l *joinLists) newSet() []uint64 { return make([]uint64, (len(l.requests)+63)/64) }

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
