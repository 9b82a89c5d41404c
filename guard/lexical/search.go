package lexical

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// scratch is the memory of one check at a time.
type scratch struct {
	tokens []token
	// words caches what was read, so that the words of everyday speech are looked
	// up once.
	words map[string]*word
	// best holds the best similarity to each vocabulary id in the current text,
	// touched the ids that have one.
	best    []float32
	touched []int32
	// cover holds the weight of each base's keys found, bases those that have any.
	cover []float32
	bases []int32
	// slots say of each vocabulary id which base last had it as a term, and where.
	slots []slot
	// near and value are what the terms of a base, and the tokens of a text, are worth.
	near, value []float64
}

// slot is the place of a vocabulary id among the terms of a base.
type slot struct {
	base *base
	at   int32
}

// mark notes where the terms of a base are.
func (s *scratch) mark(b *base) {
	for i, t := range b.terms {
		s.slots[t.id] = slot{b, int32(i)} //nolint:gosec // a request has fewer
	}
}

// term is the place of a vocabulary id among the terms of b, which is marked.
func (s *scratch) term(b *base, id int32) (at int32, is bool) {
	return s.slots[id].at, s.slots[id].base == b
}

// maxCachedWords bounds a scratch's cache: about 10 MB.
const maxCachedWords = 1 << 15

func (x *Index) newScratch() *scratch {
	return &scratch{
		words: map[string]*word{}, best: make([]float32, len(x.vocabulary.stems)), cover: make([]float32, len(x.bases)),
		slots: make([]slot, len(x.vocabulary.stems)),
	}
}

func (s *scratch) reader(v *vocabulary) func(string) *word {
	return func(w string) *word {
		if r := s.words[w]; r != nil {
			return r
		}
		if len(s.words) >= maxCachedWords {
			clear(s.words)
		}
		r := v.read(w)
		// A cached word must not hold on to the text it came from.
		s.words[strings.Clone(w)] = r
		return r
	}
}

// leastCover is the weighted share of a base's keys that a text must hold to
// be compared with it at all: the most at which no known rewording is lost, in
// five languages either, with a margin of a tenth.
const leastCover = 0.27

// candidates returns the bases of which the profile covers enough, by number.
func (x *Index) candidates(p *profile, s *scratch) []int32 {
	s.bases, s.touched = s.bases[:0], s.touched[:0]
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
			s.add(b, float32(x.vocabulary.weight[id]*s.best[id]))
		}
		s.best[id] = 0
	}
	for i, n := range p.numbers {
		for _, b := range x.holding(n) {
			s.add(b, float32(x.numberWeights(p)[i]))
		}
	}
	return x.covered(p, s)
}

func (s *scratch) add(base int32, weight float32) {
	if s.cover[base] == 0 {
		s.bases = append(s.bases, base)
	}
	s.cover[base] += weight
}

func (x *Index) covered(p *profile, s *scratch) []int32 {
	kept := s.bases[:0]
	for _, b := range s.bases {
		cover := s.cover[b] + weightService*float32(bits.OnesCount8(x.services[b]&p.services))
		s.cover[b] = 0
		if cover >= leastCover*x.totals[b] {
			kept = append(kept, b)
		}
	}
	slices.Sort(kept)
	return kept
}

type judged struct {
	base  int32
	score float64 // log odds
	part  *profile
	f     features
}

// search returns the base that the text most looks like; found is false where
// it shares too little with any.
func (x *Index) search(text string, s *scratch) (best judged, whole *profile, found bool) {
	s.tokens = parse(text, s.tokens)
	whole, best.score = lookUp(s.tokens, s.reader(x.vocabulary)), math.Inf(-1)
	for _, p := range x.chunks(whole) {
		for _, b := range x.candidates(p, s) {
			if j := x.judge(b, p, best.score, s); j.beats(best) {
				best, found = j, true
			}
		}
	}
	return best, whole, found
}

func (j judged) beats(o judged) bool {
	return cmp.Or(cmp.Compare(j.score, o.score), cmp.Compare(o.base, j.base)) > 0
}

// leastChunk is the least number of tokens that a long text is cut into, so
// that cover of a base means something.
const leastChunk = 256

// chunks cuts a long text into overlapping pieces, each long enough to hold the
// longest base in another's words, and gathers what each asks for.
func (x *Index) chunks(p *profile) []*profile {
	size := max(leastChunk, 3*x.longest)
	if len(p.tokens) <= size+size/2 {
		p.gather()
		return []*profile{p}
	}
	var out []*profile
	for from := 0; ; from += size / 2 {
		if to := from + size; to < len(p.tokens) {
			out = append(out, p.part(from, to))
			continue
		}
		return append(out, p.part(from, len(p.tokens)))
	}
}

// judge compares a base with a text, and with the window of the text that looks
// most like it. A score that stays below least is not worked out: it is minus infinity.
func (x *Index) judge(number int32, p *profile, least float64, s *scratch) judged {
	b := x.bases[number]
	s.mark(b)
	f, may := x.compare(b, p, least, s)
	best := judged{base: number, score: math.Inf(-1), part: p, f: f}
	if may {
		best.score = f.score()
	}
	if !may || best.score >= dropLogOdds || f.inWindow().score() < dropLogOdds {
		return best
	}
	if w := x.window(b, p, s); w != nil {
		if j := x.judgeWindow(number, w, s); j.score > best.score {
			best = j
		}
	}
	return best
}

// judgeWindow compares a base, marked in s, with a window of a text.
func (x *Index) judgeWindow(number int32, w *profile, s *scratch) judged {
	f, _ := x.compare(x.bases[number], w, math.Inf(-1), s)
	f[windowed] = 1
	return judged{base: number, part: w, f: f, score: f.score()}
}
