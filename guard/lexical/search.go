package lexical

import (
	"math"
	"math/bits"
	"slices"
	"strings"
)

// scratch is the reusable memory of one check.
type scratch struct {
	tokens []token
	// words caches words, so that common words are read once.
	words map[string]*word
	// best holds the best similarity to each vocabulary id in the current text,
	// touched the ids that have one.
	best    []float32
	touched []int32
	// cover holds the weight of the keys that the text has of each base, bases the
	// bases with any.
	cover []float32
	bases []int32
	// slots holds, for each vocabulary id, the last marked base that has it as a term
	// and the index of the term.
	slots []slot
	// near is the similarity of each term of a base to the text, value the weight of
	// each token of a text in a base.
	near, value []float64
}

// slot is the index of a vocabulary id among the terms of a base.
type slot struct {
	base  *base
	index int32
}

// mark records the index of each term of a base.
func (s *scratch) mark(b *base) {
	for i, t := range b.terms {
		s.slots[t.id] = slot{b, int32(i)} //nolint:gosec // a request has fewer
	}
}

// termIndex returns the index of a vocabulary id among the terms of b, which is
// marked.
func (s *scratch) termIndex(b *base, id int32) (index int32, ok bool) {
	return s.slots[id].index, s.slots[id].base == b
}

// maxCachedWords bounds the cache of words: about 10 MB.
const maxCachedWords = 1 << 15

func (x *Index) newScratch() *scratch {
	return &scratch{
		words: map[string]*word{},
		best:  make([]float32, len(x.vocabulary.stems)),
		cover: make([]float32, len(x.bases)),
		slots: make([]slot, len(x.vocabulary.stems)),
	}
}

// reader returns a function that reads words with v and caches them in s.
func (s *scratch) reader(v *vocabulary) func(string) *word {
	return func(w string) *word {
		if r := s.words[w]; r != nil {
			return r
		}
		if len(s.words) >= maxCachedWords {
			clear(s.words)
		}
		r := v.read(w)
		// A clone, so that the cache does not retain the text.
		s.words[strings.Clone(w)] = r
		return r
	}
}

// minCover is the weighted share of a base's keys that a text must have to be
// compared with it: the largest that misses no known rewording, in five languages,
// with a margin of a tenth.
const minCover = 0.27

// candidates returns the bases of which the profile covers enough, sorted.
func (x *Index) candidates(p *profile, s *scratch) []int32 {
	s.bases = s.bases[:0]
	s.touched = s.touched[:0]
	for _, w := range p.distinct {
		for _, m := range w.matches {
			if s.best[m.id] == 0 {
				s.touched = append(s.touched, m.id)
			}
			s.best[m.id] = max(s.best[m.id], m.sim)
		}
	}
	for _, id := range s.touched {
		for _, b := range x.postings[id] {
			s.addCover(b, float32(x.vocabulary.weight[id]*s.best[id]))
		}
		s.best[id] = 0
	}
	for i, n := range p.numbers {
		for _, b := range x.basesWith(n) {
			s.addCover(b, float32(x.numberWeights(p)[i]))
		}
	}
	return x.filterCovered(p, s)
}

func (s *scratch) addCover(base int32, weight float32) {
	if s.cover[base] == 0 {
		s.bases = append(s.bases, base)
	}
	s.cover[base] += weight
}

// filterCovered returns the bases that are covered enough and clears the cover.
func (x *Index) filterCovered(p *profile, s *scratch) []int32 {
	covered := s.bases[:0]
	for _, b := range s.bases {
		cover := s.cover[b] + weightService*float32(bits.OnesCount8(x.services[b]&p.services))
		s.cover[b] = 0
		if cover >= minCover*x.totals[b] {
			covered = append(covered, b)
		}
	}
	slices.Sort(covered)
	return covered
}

// comparison is the result of comparing a held-out request (base) with a text or with a
// part of the text.
type comparison struct {
	base     int32
	score    float64 // log-odds
	part     *profile
	features features
}

// isBetterThan orders comparisons by score, then by base.
func (c comparison) isBetterThan(o comparison) bool {
	if c.score != o.score {
		return c.score > o.score
	}
	return c.base < o.base
}

// search returns the comparison with the nearest base and the profile of the full
// text. ok is false if the text shares too little with every base.
func (x *Index) search(text string, s *scratch) (best comparison, full *profile, ok bool) {
	s.tokens = parse(text, s.tokens)
	full = newTokenProfile(s.tokens, s.reader(x.vocabulary))
	best.score = math.Inf(-1)
	for _, p := range x.chunks(full) {
		for _, b := range x.candidates(p, s) {
			if c := x.compare(b, p, best.score, s); c.isBetterThan(best) {
				best = c
				ok = true
			}
		}
	}
	return best, full, ok
}

// minChunk is the minimum number of tokens of a chunk of a long text: the cover of
// a base by fewer is unreliable.
const minChunk = 256

// chunks splits a long text into overlapping profiles, each long enough for the
// longest base in another person's words. A short text is one chunk, p itself.
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

// compare compares a base with a text, and with the most similar window of the
// text. The score is minus infinity if it is certain to be below minScore.
func (x *Index) compare(
	number int32,
	p *profile,
	minScore float64,
	s *scratch,
) comparison {
	b := x.bases[number]
	s.mark(b)
	f, ok := x.features(b, p, minScore, s)
	best := comparison{
		base:     number,
		score:    math.Inf(-1),
		part:     p,
		features: f,
	}
	if !ok {
		return best
	}
	best.score = f.score()
	if best.score >= dropLogOdds || f.bestWindow().score() < dropLogOdds {
		return best
	}
	if w := x.window(b, p, s); w != nil {
		if c := x.compareWindow(number, w, s); c.score > best.score {
			best = c
		}
	}
	return best
}

// compareWindow compares a base, marked in s, with a window of a text.
func (x *Index) compareWindow(number int32, w *profile, s *scratch) comparison {
	f, _ := x.features(x.bases[number], w, math.Inf(-1), s)
	f[windowed] = 1
	return comparison{
		base:     number,
		part:     w,
		features: f,
		score:    f.score(),
	}
}
