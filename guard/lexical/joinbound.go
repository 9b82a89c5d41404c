package lexical

import (
	"math"
	"math/bits"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// joinText is a protected request that Join compares with the other ones as if it were a text to
// check.
type joinText struct {
	// keys are the stems and numbers that a request can share with the text, rarest first. Those from
	// index common on are common, and total is what these add to the score together.
	keys   []joinKey
	common int
	total  contribution
	// counter finds the requests that share enough common keys.
	counter keyCounter
	// keyIndex is the index in keys by vocabulary id, valid until they are sorted.
	keyIndex []int32
	// textWeight and numberWeight are the total weights of the text's words and of its numbers.
	textWeight, numberWeight float64
	// perWeight is the highest ratio of the weights of the text and of the request that a key adds.
	perWeight float64
	// pairs are the pairs of neighbouring words of the text.
	pairs wordPairs
	// hasWindow reports whether a part of the text may be compared too.
	hasWindow bool
	// span is the number of tokens from the first one that a request may share to the last one. It is
	// math.MaxInt if the text has more than 64 such words. weightAt holds by place the weight of the
	// word, divided by the number of its places, and tokenAt the index of its token.
	span     int
	weightAt [64]float64
	tokenAt  [64]int
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
// request and of the text. places is the set of the places, among the first 64 words of the text,
// where these words are.
type contribution struct {
	weight, similar, text, number, textNumber float64
	places                                    uint64
}

func (c *contribution) add(o *contribution) {
	c.weight += o.weight
	c.similar += o.similar
	c.text += o.text
	c.number += o.number
	c.textNumber += o.textNumber
	c.places |= o.places
}

func newJoinText(x *Index) joinText { return joinText{keyIndex: make([]int32, len(x.postings))} }

// read sets t to the text of the request r, to be compared with the others. It sets s.touched to the
// ids of the request's stems, s.best to their similarities, and s.textWeight and s.numberWeight to the
// total weights of its words and numbers.
func (t *joinText) read(l *joinLists, r *joinRequest, s *scratch) {
	x := l.index
	p := x.bases[r.number].profile
	t.pairs = r.pairs
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
	t.perWeight = 0
	for i := range t.keys {
		single := &t.keys[i].single
		t.perWeight = max(t.perWeight, ratio(single.text, single.weight))
	}
	s.numberWeight = 0
	for i, n := range p.numbers {
		s.numberWeight += x.numberWeights(p)[i]
		t.addNumber(l, n, x.numberWeights(p)[i])
	}
	t.textWeight = s.textWeight
	t.numberWeight = s.numberWeight
	t.hasWindow = mayHaveWindow(p.tokens)
	t.addPlaces(p)
	t.sortKeys(l)
}

// addPlaces adds to the keys the places of their words in the text p, and sets t.span and t.weightAt.
func (t *joinText) addPlaces(p *profile) {
	t.weightAt = [64]float64{}
	t.span = 0
	first := -1
	n := 0
	for i := range p.tokens {
		if !p.tokens[i].isNumber() && len(p.words[i].matches) == 0 {
			continue
		}
		if first < 0 {
			first = i
		}
		t.span = i + 1 - first
		if p.tokens[i].isNumber() {
			continue
		}
		if n < len(t.weightAt) {
			w := p.words[i]
			count := slicesx.CountFunc(p.content, func(o **word) bool { return (*o).hash == w.hash })
			t.tokenAt[n] = i
			t.weightAt[n] = float64(w.weight) / float64(count)
			for _, m := range w.matches {
				t.keys[t.keyIndex[m.id]].single.places |= 1 << n
			}
		}
		n++
	}
	if n > len(t.weightAt) {
		t.span = math.MaxInt
	}
}

// between returns the weight of the words that are not at these places, but between two of them: a part
// of the text has them if it is to be compared with the request r and may have all these places.
func (t *joinText) between(places uint64, r *joinRange) float64 {
	if float64(t.span) > windowFactor*float64(r.tokens)+windowSlack {
		return 0
	}
	upToLast := uint64(1)<<bits.Len64(places) - 1
	beforeFirst := places&-places - 1
	weight := 0.0
	for word := upToLast &^ beforeFirst &^ places; word != 0; word &= word - 1 {
		weight += t.weightAt[bits.TrailingZeros64(word)]
	}
	return weight
}

// lost returns the weight of the words of the tokens from start to before end that have no value.
func (t *joinText) lost(start, end int, value []float64) float64 {
	weight := 0.0
	for i, token := range t.tokenAt {
		if token >= start && token < end && value[token] == 0 {
			weight += t.weightAt[i]
		}
	}
	return weight
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

// sortKeys sorts the keys of the text by the number of their requests and sets t.common and t.total.
func (t *joinText) sortKeys(l *joinLists) {
	slicesx.SortFunc(t.keys, func(a, b joinKey) int { return a.count - b.count })
	t.common = len(t.keys)
	t.total = contribution{}
	for i := len(t.keys) - 1; i >= 0 && !t.keys[i].isRare(l); i-- {
		t.common = i
		t.total.add(&t.keys[i].single)
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

// reaches reports whether the score of a request in the range r that shares at most sum with the
// text may reach the threshold. between and pairs are those of the method limits.
func (t *joinText) reaches(sum *contribution, between, pairs float64, r *joinRange) bool {
	full, part := t.limits(sum, between, pairs, r)
	return max(full, part) >= dropLogOdds
}

// limits returns upper bounds of the score of the requests in the range r that share at most sum
// with the text: that of the full text and that of a part of it, minus infinity if the text has no
// part. between is the weight of words that such a part has at least and that are not shared. pairs
// is the share of pairs of neighbouring words that they have in common at least: they lower the
// score, since equal pairs in two requests are often only a template.
func (t *joinText) limits(sum *contribution, between, pairs float64, r *joinRange) (full, part float64) {
	inRequest := r.numberShare(sum.number)
	shared := t.numberWeight
	if !r.isLoose {
		shared = min(shared, sum.textNumber)
	}
	inText := (numberPrior/2 + shared) / (numberPrior + t.numberWeight)
	cover := sum.cover(r.perWeight)
	words := min(sum.text, t.perWeight*r.weight)
	coverBack := min(1, ratio(words, t.textWeight))
	lacked := min(1-cover/detector[coverBase], 1-coverBack)
	score := detectorBias + joinRounding + t.hits(min(sum.similar, r.words)) + cover + detector[numbers]*inRequest
	full = score + detector[coverText]*coverBack + detector[numbersBack]*inText +
		pairs*(detector[template]+detector[swapped]*max(0, lacked))
	if !t.hasWindow {
		return full, math.Inf(-1)
	}
	inPart := (numberPrior/2 + shared) / (numberPrior + shared)
	inWindow := 1.0
	if words > 0 {
		inWindow = words / (words + between)
	}
	return full, score + detector[coverText]*inWindow + detector[numbersBack]*inPart + detector[windowed]
}

// numberShare returns an upper bound of the share, 0 to 1 by weight and smoothed, of the numbers of a
// request in the range that a text has, if numbers of this total weight may be shared.
func (r *joinRange) numberShare(shared float64) float64 {
	if r.isLoose {
		shared = math.MaxFloat32
	}
	total := min(max(shared, r.lowest), r.highest) // of the request with the highest share
	return (numberPrior/2 + min(shared, total)) / (numberPrior + total)
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
