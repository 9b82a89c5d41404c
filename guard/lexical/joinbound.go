package lexical

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// joinLists lists the requests of an index by their stems, so that Join, which finds pairs of
// similar requests, can skip requests that cannot be similar to a text.
type joinLists struct {
	index *Index
	// requests are the requests of the index. sizes holds the number of requests of each group.
	// largest is the group that had the most requests when divided was last computed, and outside
	// the number of requests that were in other groups.
	requests []joinRequest
	sizes    []int32
	largest  int32
	outside  int
	// sorted lists, for each vocabulary id, the requests that have the stem, those with the least
	// weight of words first. divided splits each of these lists into the requests outside of the
	// group largest, and those in it.
	sorted  [][]int32
	divided [][2][]int32
	// bit is the number of each of the frequent stems from 1, by vocabulary id, and 0 for all others.
	bit []int16
}

// joinRequest has what Join needs to know of one protected request to decide quickly whether it may
// be similar to a text.
type joinRequest struct {
	// frequent is the set of the request's frequent stems.
	frequent bitSet
	// perWeight is what a shared word of weight 1 adds to the score. shared and lacked are what the
	// numbers of the request add to the score if a text has all of them, or none.
	perWeight, shared, lacked float64
	group                     int32
}

// newJoinLists returns the lists by which Join finds protected requests with common stems. n is the
// number of all protected requests, those without a text included.
func newJoinLists(x *Index, n int) *joinLists {
	l := &joinLists{
		index:    x,
		sizes:    make([]int32, n),
		outside:  math.MaxInt,
		bit:      make([]int16, len(x.postings)),
		requests: make([]joinRequest, len(x.bases)),
		divided:  make([][2][]int32, len(x.postings)),
	}
	for i := range l.requests {
		total := numberPrior + float64(x.numberTotals[i])
		l.requests[i].perWeight = ratio(detector[coverBase], float64(x.wordTotals[i]))
		l.requests[i].lacked = detector[numbers] * numberPrior / 2 / total
		l.requests[i].shared = detector[numbers] * (total - numberPrior/2) / total
	}
	for _, bases := range x.postings {
		bases = slices.Clone(bases)
		slicesx.SortFunc(bases, func(a, b int32) int {
			return cmp.Or(cmp.Compare(x.wordTotals[a], x.wordTotals[b]), cmp.Compare(a, b))
		})
		l.sorted = append(l.sorted, bases)
	}
	l.setFrequent()
	return l
}

// maxFrequent is the number of stems that are treated as frequent: the ones that most requests
// contain. It is limited by the bits of a bitSet.
const maxFrequent = 64 * len(bitSet{})

// bitSet is a set of frequent word stems, one bit for each, so that the frequent stems which a text
// and a request share are found by one AND.
type bitSet [4]uint64

// setFrequent finds the maxFrequent stems that occur in the largest numbers of requests. It sets
// l.bit for these stems, and for each request which of them it has.
func (l *joinLists) setFrequent() {
	ids := make([]int32, len(l.sorted))
	for id := range ids {
		ids[id] = int32(id) //nolint:gosec // a vocabulary has fewer
	}
	slicesx.SortFunc(ids, func(a, b int32) int {
		return cmp.Or(len(l.sorted[b])-len(l.sorted[a]), int(a-b))
	})
	for i, id := range ids[:min(maxFrequent, len(ids))] {
		l.bit[id] = int16(i + 1) //nolint:gosec // at most maxFrequent
		for _, b := range l.sorted[id] {
			l.requests[b].frequent[i/64] |= 1 << (i % 64)
		}
	}
}

// setGroups records the current group of each request, as group returns it for the request's index
// in the bank: requests found similar so far are in one group and need no comparison. It divides
// the lists of requests again (see divide) if the requests outside of the largest group have become
// fewer by a quarter since the last time.
func (l *joinLists) setGroups(group func(i int) int) {
	clear(l.sizes)
	largest := int32(0)
	for i, entry := range l.index.entry {
		g := int32(group(entry)) //nolint:gosec // a bank has fewer
		l.requests[i].group = g
		l.sizes[g]++
		if l.sizes[g] > l.sizes[largest] {
			largest = g
		}
	}
	outside := len(l.requests) - int(l.sizes[largest])
	if outside > l.outside/4*3 {
		return
	}
	l.largest = largest
	l.outside = outside
	l.divide()
}

// divide splits the list of requests with each stem in two: those outside of the largest group of
// similar requests, and those in it. Members of one group need not be compared with each other, so
// a member of the largest group then skips the second list.
func (l *joinLists) divide() {
	for id, bases := range l.sorted {
		lists := &l.divided[id]
		lists[0] = lists[0][:0]
		lists[1] = lists[1][:0]
		for _, b := range bases {
			i := 0
			if l.requests[b].group == l.largest {
				i = 1
			}
			lists[i] = append(lists[i], b)
		}
	}
}

// joinText is a protected request that Join compares with the other ones as if it were a text to
// check.
type joinText struct {
	// keys are the stems and numbers that a request can share with the text, rarest first.
	keys []joinKey
	// frequent is the bit set of the text's frequent stems, byBit what each of them adds to the
	// score.
	frequent bitSet
	byBit    [maxFrequent]contribution
	// position is the index in keys by vocabulary id.
	position []int32
	// textWeight and numberWeight are the total weights of the text's words and of its numbers.
	textWeight, numberWeight float64
	// hitTerms caches the results of the method hits.
	hitTerms []float64
}

// joinKey is a stem or a number of a text. Join looks up by it which requests have the same stem or
// number, so that it need not compare all pairs.
type joinKey struct {
	id int32 // vocabulary id, -1 for a number
	// lists are the requests that have the key, in any order for a number.
	lists [2][]int32
	// single is what the key adds alone, total what it and all more frequent ones add together, and
	// infrequent what those of them add that are no frequent stems. hasNumber reports whether a number
	// is among them.
	single, total, infrequent contribution
	hasNumber                 bool
	// limit is the highest possible score of a request with this key and no rarer one, without the terms
	// of the request's own words and numbers.
	limit float64
}

// contribution is what a text and a request share: the weight of words of the request, the sum of
// the similarities of these words, and the weight of words of the text.
type contribution struct{ weight, similar, text float64 }

func (c *contribution) add(o contribution) {
	c.weight += o.weight
	c.similar += o.similar
	c.text += o.text
}

func newJoinText(x *Index) joinText {
	return joinText{position: make([]int32, len(x.postings))}
}

// read sets t to the request with this index in Index.bases, to be compared with the others. It
// sets s.touched to the ids of the request's stems, s.best to their similarities, and s.textWeight
// and s.numberWeight to the total weights of its words and numbers.
func (t *joinText) read(l *joinLists, number int32, s *scratch) {
	x := l.index
	p := x.bases[number].profile
	readStems(p, s)
	t.keys = t.keys[:0]
	for _, id := range s.touched {
		weight := float64(x.vocabulary.weight[id] * s.best[id])
		key := joinKey{id: id, lists: l.divided[id], single: contribution{weight: weight, similar: float64(s.best[id])}}
		if l.requests[number].group == l.largest {
			key.lists[1] = nil
		}
		t.keys = append(t.keys, key)
	}
	s.numberWeight = 0
	for i, n := range p.numbers {
		s.numberWeight += x.numberWeights(p)[i]
		lists := [2][]int32{x.basesWith(n), x.written[newWritten(n)]}
		t.keys = append(t.keys, joinKey{id: -1, lists: lists, hasNumber: true})
	}
	t.textWeight = s.textWeight
	t.numberWeight = s.numberWeight
	slicesx.SortFunc(t.keys, func(a, b joinKey) int {
		return cmp.Or(a.count()-b.count(), int(a.id-b.id))
	})
	t.addText(p)
	t.sumUp(l)
}

func (k *joinKey) count() int { return len(k.lists[0]) + len(k.lists[1]) }

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

// addText computes, for each stem that occurs in or is similar to a word of the text p, how much
// text weight a request with that stem would share: the sum of the words' weights, each times its
// highest similarity. It adds the sum to single.text of the stem's key.
func (t *joinText) addText(p *profile) {
	for i := range t.keys {
		if id := t.keys[i].id; id >= 0 {
			t.position[id] = int32(i) //nolint:gosec // a text has fewer
		}
	}
	for _, w := range p.distinct {
		for _, m := range w.matches {
			t.keys[t.position[m.id]].single.text += float64(w.weight * w.bestMatch())
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

// sumUp computes for each key (stem or number) of the text the highest score that a request can
// have if this key is the rarest one that it shares with the text. Such a request shares at most
// this key and all more frequent ones, so their contributions are added up.
func (t *joinText) sumUp(l *joinLists) {
	t.frequent = bitSet{}
	var total, infrequent contribution
	hasNumber := false
	for i := len(t.keys) - 1; i >= 0; i-- {
		key := &t.keys[i]
		total.add(key.single)
		if key.id >= 0 && l.bit[key.id] > 0 {
			bit := l.bit[key.id] - 1
			t.frequent[bit/64] |= 1 << (bit % 64)
			t.byBit[bit] = key.single
		} else {
			infrequent.add(key.single)
		}
		hasNumber = hasNumber || key.hasNumber
		key.total = total
		key.infrequent = infrequent
		key.hasNumber = hasNumber
		key.limit = t.limit(total, hasNumber)
	}
}

// limit returns an upper bound, as log-odds, of the score of any request that shares sum with the
// text, and shares numbers only if hasNumber is set. The terms that depend on the request's own
// words and numbers are left out; the caller adds them. The bound allows for the case that only a
// part of the text is compared.
func (t *joinText) limit(sum contribution, hasNumber bool) float64 {
	shared := 0.0
	if hasNumber {
		shared = t.numberWeight
	}
	inText := (numberPrior/2 + shared) / (numberPrior + t.numberWeight)
	inPart := (numberPrior/2 + shared) / (numberPrior + shared)
	full := detector[coverText]*min(1, ratio(sum.text, t.textWeight)) + detector[numbersBack]*inText
	part := detector[coverText] + detector[numbersBack]*inPart + detector[windowed]
	return detectorBias + joinRounding + t.hits(sum.similar) + max(full, part)
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

// reaches reports whether a comparison of the text with the request l.index.bases[base] is
// worthwhile, since the score may reach the threshold. key is the rarest stem or number that the
// two share. It computes three upper limits of the score, each closer than the one before, and
// returns false at the first that is too low.
func (t *joinText) reaches(l *joinLists, key *joinKey, base int32, s *scratch) bool {
	r := &l.requests[base]
	need := dropLogOdds - r.lacked
	if key.hasNumber {
		need = dropLogOdds - r.shared
	}
	if key.limit+key.total.cover(r.perWeight) < need {
		return false
	}
	sum := key.infrequent
	for i, set := range r.frequent {
		for set &= t.frequent[i]; set != 0; set &= set - 1 {
			sum.add(t.byBit[64*i+bits.TrailingZeros64(set)])
		}
	}
	if t.limit(sum, key.hasNumber)+sum.cover(r.perWeight) < need {
		return false
	}
	sum = contribution{}
	for _, term := range l.index.bases[base].terms {
		if s.best[term.id] > 0 {
			sum.add(t.keys[t.position[term.id]].single)
		}
	}
	return t.limit(sum, key.hasNumber)+sum.cover(r.perWeight) >= need
}

// cover returns how much the words that a text shares with a request raise the score. perWeight is
// the score for a word of weight 1; the result is at most that of a text with all words of the
// request.
func (c *contribution) cover(perWeight float64) float64 {
	return min(detector[coverBase], c.weight*perWeight)
}
