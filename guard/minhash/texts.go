package minhash

import (
	"fmt"
	"math"
	"sync"
)

// Group is the cluster of one text.
type Group struct {
	// Root is the smallest index of the text's cluster.
	Root int
	// Representative is set for the one text of each cluster to keep: the longest,
	// among equally long ones the first in byte order, then in input order.
	Representative bool
	// Jaccard is the similarity to the representative, NaN for itself.
	Jaccard float64
}

// Texts returns the clusters of texts, with exact similarities of candidates. The
// result does not depend on o.Workers.
func Texts(texts []string, o Options) ([]Group, *Clusters, error) {
	sigs := make([]Packed, len(texts))
	sets := newShingleSets(texts)
	workers := max(1, min(o.Workers, len(texts)))
	var wg sync.WaitGroup
	for w := range workers {
		start := len(texts) * w / workers
		end := len(texts) * (w + 1) / workers
		wg.Go(func() {
			sets.sign(sigs, start, end, maxRetained/workers, o.Signed)
		})
	}
	wg.Wait()
	c, err := Cluster(sigs, sets.jaccard, o)
	if err != nil {
		return nil, nil, fmt.Errorf("cluster texts: %w", err)
	}
	return groups(texts, c, sets), c, nil
}

// maxRetained is the maximum number of shingles, 64 MiB, that are retained after the signatures are
// computed. The shingles of other texts are computed again for their first comparison.
const maxRetained = 16 << 20

// shingleSets holds the shingles of texts and computes exact similarities from them. Duplicate
// shingles of a text are removed before its first comparison.
type shingleSets struct {
	texts []string
	raw   [][]uint32
	isSet []bool // whether the shingles in raw have no duplicates
	last  []lastComparison
	// table holds the shingles of the text at index loaded, or no shingles if loaded is noText.
	table  table
	loaded int

	shingler shingler
}

// noText is the value of shingleSets.loaded if the table holds no text.
const noText = -1

// lastComparison is the most recent comparison of a text: the index of the other text and the
// similarity.
type lastComparison struct {
	text       int // index of the other text plus one, 0 if there was no comparison
	similarity float64
}

func newShingleSets(texts []string) *shingleSets {
	return &shingleSets{
		texts:  texts,
		raw:    make([][]uint32, len(texts)),
		isSet:  make([]bool, len(texts)),
		last:   make([]lastComparison, len(texts)),
		loaded: noText,
	}
}

// sign computes the signatures of the texts from index start up to but not including end. It
// retains at most budget shingles for later comparisons. If signed is not nil, sign calls it with
// the length of each text.
func (s *shingleSets) sign(
	sigs []Packed,
	start, end, budget int,
	signed func(bytes int),
) {
	var sig Signature
	var scratch shingler
	var retained []uint32 // in large blocks, which the collector scans faster than one for each text
	for i := start; i < end; i++ {
		text := s.texts[i]
		if cap(retained)-len(retained) < maxShingles(len(text)) {
			retained = make([]uint32, 0, max(1<<16, maxShingles(len(text))))
		}
		before := retained
		retained = shingles(&scratch, text, retained)
		xs := retained[len(before):len(retained):len(retained)]
		signShingles(xs, &sig)
		sigs[i] = sig.Pack()
		if signed != nil {
			signed(len(text))
		}
		budget -= len(xs)
		if budget >= 0 {
			s.raw[i] = xs
		} else {
			retained = before
		}
	}
}

// jaccard returns the exact Jaccard similarity of texts i and j, 0 to 1. Two texts without words
// have similarity 1.
func (s *shingleSets) jaccard(i, j int) float64 {
	if s.last[i].text == j+1 {
		return s.last[i].similarity
	}
	a := s.set(i)
	b := s.set(j)
	if len(a)+len(b) == 0 {
		return 1
	}
	if s.loaded == j {
		a, b = b, a
	} else if s.loaded != i {
		s.table.fill(a)
		s.loaded = i
	}
	both := s.table.count(b)
	similarity := float64(both) / float64(len(a)+len(b)-both)
	s.last[i] = lastComparison{j + 1, similarity}
	s.last[j] = lastComparison{i + 1, similarity}
	return similarity
}

// set returns the shingles of text i without duplicates. It computes them on the first call.
func (s *shingleSets) set(i int) []uint32 {
	if s.isSet[i] {
		return s.raw[i]
	}
	if s.raw[i] == nil {
		s.raw[i] = shingles(&s.shingler, s.texts[i], nil)
	}
	s.raw[i] = s.table.fill(s.raw[i])
	s.isSet[i] = true
	s.loaded = i
	return s.raw[i]
}

func groups(texts []string, c *Clusters, sets *shingleSets) []Group {
	best := make([]int, len(texts)) // representative by root; a root precedes its cluster
	for i, root := range c.Root {
		if int(root) == i || isBetterRepresentative(texts[i], texts[best[root]]) {
			best[root] = i
		}
	}
	out := make([]Group, len(texts))
	for i, root := range c.Root {
		out[i] = Group{
			Root:           int(root),
			Representative: best[root] == i,
			Jaccard:        math.NaN(),
		}
		if !out[i].Representative {
			out[i].Jaccard = sets.jaccard(i, best[root])
		}
	}
	return out
}

// isBetterRepresentative reports whether, of two near-duplicates, a rather than b is the text to
// keep: the longer one, or of equally long ones the first in byte order.
func isBetterRepresentative(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a < b
}
