package lexical

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// scratch is the memory for comparing one text with all protected requests. It is reused for later
// texts.
type scratch struct {
	tokens []token
	// words caches the result of looking a word up.
	words map[string]*word
	// best holds, for each vocabulary id, the similarity of the most similar word of the text, 0 if
	// no word is similar. touched lists the ids with another value than 0.
	best    []float32
	touched []int32
	// overlaps holds, for each request of the index, what the text of the last call of candidates
	// has in common with it. bases lists the requests with a word or number in common, covered those
	// of them that candidates returned.
	overlaps []overlap
	bases    []int32
	covered  []int32
	// textWeight is the weight of the words of that text that match a word of the bank, numberWeight
	// that of its numbers.
	textWeight, numberWeight float64
	// slots holds, for each vocabulary id, the request with this word that was marked last, and the
	// index of the word among its terms.
	slots []slot
	// near holds the similarity of each term of one request to the text, value the weight of each
	// token of a text in the comparison with one request.
	near, value []float64
}

// overlap has sums of what a text shares with one request. Of the request's words and numbers that
// the text has, cover is the weight, and words the weight of the words alone. found is the sum of
// the similarities of these words. text is the weight of those words of the text that the request
// has. hasNumber reports whether the two may share a number.
type overlap struct {
	cover, words, found, text float32
	hasNumber                 bool
	// last is the number of the last word of the text that was added to the field text, from 1.
	last int32
}

// slot records at which index the terms of a request (base) have one word of the vocabulary.
type slot struct {
	base  *base
	index int32
}

// mark records for each word of the request b its index in b.terms, for calls of termIndex. The
// records are valid until another request is marked.
func (s *scratch) mark(b *base) {
	for i, t := range b.terms {
		s.slots[t.id] = slot{b, int32(i)} //nolint:gosec // a request has fewer
	}
}

// termIndex returns the index of a vocabulary id in b.terms; ok is false if b does not have this
// word. b must be the request that was marked last.
func (s *scratch) termIndex(b *base, id int32) (index int32, ok bool) {
	return s.slots[id].index, s.slots[id].base == b
}

// maxCachedWords is the maximum number of words in the cache of a scratch, about 10 MB. A full
// cache is emptied.
const maxCachedWords = 1 << 15

func (x *Index) newScratch() *scratch {
	return &scratch{
		words:    map[string]*word{},
		best:     make([]float32, len(x.vocabulary.stems)),
		overlaps: make([]overlap, len(x.bases)),
		slots:    make([]slot, len(x.vocabulary.stems)),
	}
}

// reader returns a function that looks a word up in v and the lexicon. The function caches its
// results in s.
func (s *scratch) reader(v *vocabulary) func(string) *word {
	return func(w string) *word {
		if r := s.words[w]; r != nil {
			return r
		}
		if len(s.words) >= maxCachedWords {
			clear(s.words)
		}
		w = strings.Clone(w) // so that the cache does not retain the text
		r := v.read(w)
		s.words[w] = r
		return r
	}
}

// read returns the profile (parsed form) of a text, in which only tokens and words are set. The
// tokens are in the memory of s.tokens, valid until the next call.
func (x *Index) read(text string, s *scratch) *profile {
	read := s.reader(x.vocabulary)
	s.tokens = x.parse(text, s.tokens, func(w string) string { return read(w).spelling })
	return newTokenProfile(s.tokens, read)
}

// minCover is the minimum share, by weight, of a request's words, numbers and delivery terms that a
// text must have to be compared with the request. It is the largest share that misses no known
// rewording in five languages, with a margin of a tenth.
const minCover = 0.27

// candidates returns the requests that are similar enough to the text p for a full comparison, as
// sorted indices in x.bases: the text has at least the share minCover of their words, numbers and
// delivery terms by weight. The result is valid until the next call with s.
func (x *Index) candidates(p *profile, s *scratch) []int32 {
	for _, b := range s.bases {
		s.overlaps[b] = overlap{}
	}
	s.bases = s.bases[:0]
	s.touched = s.touched[:0]
	s.textWeight = 0
	for i, w := range p.distinct {
		x.addWord(int32(i+1), w, s) //nolint:gosec // a text has fewer words
	}
	for _, id := range s.touched {
		sim := s.best[id]
		weight := float32(x.vocabulary.weight[id] * sim)
		for _, b := range x.postings[id] {
			o := &s.overlaps[b]
			o.cover += weight
			o.words += weight
			o.found += sim
		}
		s.best[id] = 0
	}
	x.addNumbers(p, s)
	return x.filterCovered(p, s)
}

// addNumbers adds the numbers of the text p to s.overlaps, which has what the text shares with each
// request, and sets s.numberWeight to the total weight of the text's numbers.
func (x *Index) addNumbers(p *profile, s *scratch) {
	s.numberWeight = 0
	for i, n := range p.numbers {
		weight := x.numberWeights(p)[i]
		s.numberWeight += weight
		for _, b := range x.basesWith(n) {
			s.addNumber(b, float32(weight))
		}
		for _, b := range x.written[newWritten(n)] {
			s.addNumber(b, 0)
		}
	}
}

// addNumber adds a shared number with this weight to s.overlaps[b] (what the text has in common
// with the request x.bases[b]). It adds the request to s.bases if it is not there yet.
func (s *scratch) addNumber(b int32, weight float32) {
	o := &s.overlaps[b]
	if o.last == 0 && !o.hasNumber {
		s.bases = append(s.bases, b)
	}
	o.hasNumber = true
	o.cover += weight
}

// addWord adds the word w of a text to what the text has in common with the requests: its weight to
// s.textWeight, and to the field text in s.overlaps of each request with a similar stem. It adds
// the stems, with their similarities, to s.best. number, from 1, numbers the distinct words of the
// text, so that a word with several similar stems is added to a request once only.
func (x *Index) addWord(number int32, w *word, s *scratch) {
	if len(w.matches) == 0 {
		return
	}
	s.textWeight += float64(w.weight)
	most := w.bestMatch()
	for _, m := range w.matches {
		if s.best[m.id] == 0 {
			s.touched = append(s.touched, m.id)
		}
		s.best[m.id] = max(s.best[m.id], m.sim)
		for _, b := range x.postings[m.id] {
			o := &s.overlaps[b]
			if o.last == number {
				continue
			}
			if o.last == 0 {
				s.bases = append(s.bases, b)
			}
			o.last = number
			o.text += float32(w.weight * most)
		}
	}
}

// filterCovered returns the requests in s.bases, sorted, of whose words, numbers and delivery terms
// the text has at least the share minCover by weight.
func (x *Index) filterCovered(p *profile, s *scratch) []int32 {
	s.covered = s.covered[:0]
	for _, b := range s.bases {
		if x.isCovered(b, p, s) {
			s.covered = append(s.covered, b)
		}
	}
	slices.Sort(s.covered)
	return s.covered
}

// isCovered reports whether the text p has at least the share minCover, by weight, of the words,
// numbers and delivery terms of the request x.bases[number]. s.overlaps[number] must be set for p.
func (x *Index) isCovered(number int32, p *profile, s *scratch) bool {
	services := bits.OnesCount8(x.services[number] & p.services)
	return s.overlaps[number].cover+weightService*float32(services) >= minCover*x.totals[number]
}

// reaches reports whether it is worth comparing the text p with the request x.bases[number] in
// full, by upper limits of the score. hasPart is true if a part of the text may score at least
// dropLogOdds. ok is true if hasPart is, or if the full text may score at least minScore.
// candidates must have been called with p before.
func (x *Index) reaches(number int32, p *profile, minScore float64, s *scratch) (ok, hasPart bool) {
	// If all numbers were shared, or none, without a look at the request itself.
	limit := x.sharedWords(number, s)
	inRequest := 0.0
	inText := 0.0
	if s.overlaps[number].hasNumber {
		inRequest = float64(x.numberTotals[number])
		inText = s.numberWeight
	}
	limit[numbers] = (numberPrior/2 + inRequest) / (numberPrior + float64(x.numberTotals[number]))
	limit[numbersBack] = (numberPrior/2 + inText) / (numberPrior + s.numberWeight)
	if limit.score() < minScore && limit.bestPart(inText).score() < dropLogOdds {
		return false, false
	}

	b := x.bases[number].profile
	limit[numbers], _ = x.numberShare(b, p)
	shared, total, _ := x.sharedNumbers(p, b)
	limit[numbersBack] = shared / total
	limit[service] = serviceShare(b, p)
	hasPart = limit.bestPart(shared-numberPrior/2).score() >= dropLogOdds
	return hasPart || limit.score() >= minScore, hasPart
}

// sharedWords returns upper limits for the word features (coverBase, coverText, hits) of the
// request x.bases[number] and the text that the method candidates was last called with. Each is
// raised by a margin, so that no request is skipped because of rounding; the other features are 0.
func (x *Index) sharedWords(number int32, s *scratch) features {
	o := &s.overlaps[number]
	var f features
	f[coverBase] = ratio(float64(o.words), float64(x.wordTotals[number])) + rounding
	f[coverText] = ratio(float64(o.text), s.textWeight) + rounding
	f[hits] = math.Log1p(float64(o.found)) + rounding
	return f
}

// bestPart returns the features of the best conceivable part of a text. Such a part has everything
// that the text shares with the request, with shared numbers of the total weight sharedNumbers, and
// nothing else. f has the features of the full text. No real part of the text scores higher, so a
// low score saves the search for a part.
func (f features) bestPart(sharedNumbers float64) features {
	f[coverText] = 1
	f[numbersBack] = (numberPrior/2 + sharedNumbers) / (numberPrior + sharedNumbers)
	f[service] = 0
	f[windowed] = 1
	return f
}

// comparison is the result of comparing a protected request (base) with a text or with a part of
// the text.
type comparison struct {
	base     int32
	score    float64 // log-odds
	part     *profile
	features features
}

// isBetterThan reports whether c has a higher score than o or, if the scores are equal, is with a
// request of lower index.
func (c comparison) isBetterThan(o comparison) bool {
	if c.score != o.score {
		return c.score > o.score
	}
	return c.base < o.base
}

// search compares a text with the requests of the index, except those for which skip is not nil and
// reports true. It returns the comparison with the highest score first, then all others with a
// score of at least sameLogOdds in the order of their scores, and the profile (parsed form) of the
// full text. It returns no comparison if the text has too little in common with every request to be
// compared.
func (x *Index) search(text string, skip func(request int) bool, s *scratch) (near []comparison, full *profile) {
	full = x.read(text, s)
	best := comparison{score: math.Inf(-1)}
	for _, p := range x.chunks(full) {
		for _, b := range x.candidates(p, s) {
			if skip != nil && skip(x.entry[b]) {
				continue
			}
			c := x.compare(b, p, min(best.score, sameLogOdds), s)
			if c.isBetterThan(best) {
				best = c
				near = append(near, c)
			} else if c.score >= sameLogOdds {
				near = append(near, c)
			}
		}
	}
	slices.SortStableFunc(near, func(a, b comparison) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.base, b.base)) })
	return near, full
}

// minChunk is the minimum number of tokens of a part, if a long text is split. In shorter parts the
// share of a request's words is unreliable.
const minChunk = 256

// chunks splits a long text into overlapping parts and returns the profile of each. A part is three
// times as long as the longest request, and at least minChunk tokens, so that a request in another
// author's words fits in it. A text of up to one and a half parts is not split: the result is p
// itself.
func (x *Index) chunks(p *profile) []*profile {
	size := max(minChunk, 3*x.longest)
	if len(p.tokens) <= size+size/2 {
		p.collect()
		return []*profile{p}
	}
	var out []*profile
	start := 0
	for ; start+size < len(p.tokens); start += size / 2 {
		out = append(out, p.slice(start, start+size))
	}
	return append(out, p.slice(start, len(p.tokens)))
}

// compare compares the request x.bases[number] with a text and, if the full text scores below
// dropLogOdds, also with the most similar part of the text. It returns the better result. The score
// is minus infinity if the full text cannot reach minScore and no part of it can reach dropLogOdds.
// candidates must have been called with p before.
func (x *Index) compare(
	number int32,
	p *profile,
	minScore float64,
	s *scratch,
) comparison {
	best := comparison{
		base:  number,
		score: math.Inf(-1),
		part:  p,
	}
	ok, hasPart := x.reaches(number, p, minScore, s)
	if !ok {
		return best
	}
	b := x.bases[number]
	s.mark(b)
	best.features = x.features(b, p, s)
	best.score = best.features.score()
	if best.score >= dropLogOdds || !hasPart {
		return best
	}
	if w := x.window(b, p, s); w != nil {
		if c := x.compareWindow(number, w, s); c.score > best.score {
			best = c
		}
	}
	return best
}

// compareWindow compares the request x.bases[number] with w, the profile of a part of a text.
// s.mark must have been called with the request before.
func (x *Index) compareWindow(number int32, w *profile, s *scratch) comparison {
	f := x.features(x.bases[number], w, s)
	f[windowed] = 1
	return comparison{
		base:     number,
		part:     w,
		features: f,
		score:    f.score(),
	}
}
