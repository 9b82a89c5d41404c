package minhash

import (
	"cmp"
	"fmt"
	"math"
	"sync"
)

// Group is a text's place among its near-duplicates.
type Group struct {
	// Root is the smallest index of the text's cluster.
	Root int
	// Representative is true for the one text of each cluster to keep: the longest,
	// of equally long ones the first in byte order, then in input order.
	Representative bool
	// Jaccard is the similarity to the representative, NaN for itself.
	Jaccard float64
}

// Texts clusters texts and compares candidates exactly. Only the shingles of
// texts that collide are sorted. The answer does not depend on o.Workers.
func Texts(texts []string, o Options) ([]Group, *Clusters, error) {
	sigs := make([]Packed, len(texts))
	sets := &shingleSets{texts: texts, raw: make([][]uint32, len(texts)), isSet: make([]bool, len(texts)), met: make([]met, len(texts)), held: noText}
	workers := max(1, min(o.Workers, len(texts)))
	var all sync.WaitGroup
	for w := range workers {
		from, to := len(texts)*w/workers, len(texts)*(w+1)/workers
		all.Go(func() { sets.sign(sigs, from, to, maxKept/workers, o.Signed) })
	}
	all.Wait()
	c, err := Cluster(sigs, sets.jaccard, o)
	if err != nil {
		return nil, nil, fmt.Errorf("cluster texts: %w", err)
	}
	return groups(texts, c, sets), c, nil
}

// maxKept bounds the shingles that are kept from signing: 64 MiB. Those of
// later texts are made again when they collide.
const maxKept = 16 << 20

// shingleSets holds the shingles of texts and makes sets of them as they are
// asked for.
type shingleSets struct {
	texts []string
	raw   [][]uint32
	isSet []bool
	made  shingler
	met   []met
	// loaded holds the shingles of one text, by index; none is noText.
	loaded table
	held   int
}

const noText = -1

// met is the last text that a text was compared with.
type met struct {
	next       int // its index and one, 0 for none
	similarity float64
}

// sign signs the texts of one stretch and keeps their shingles while there is
// room for them.
func (s *shingleSets) sign(sigs []Packed, from, to, room int, signed func(bytes int)) {
	var sig Signature
	var made shingler
	var kept []uint32 // in large pieces, which the collector walks faster than one for each text
	for i := from; i < to; i++ {
		if cap(kept)-len(kept) < mostShingles(len(s.texts[i])) {
			kept = make([]uint32, 0, max(1<<16, mostShingles(len(s.texts[i]))))
		}
		before := kept
		kept = shingles(&made, s.texts[i], kept)
		xs := kept[len(before):len(kept):len(kept)]
		signShingles(xs, &sig)
		sigs[i] = sig.Pack()
		if signed != nil {
			signed(len(s.texts[i]))
		}
		if room -= len(xs); room >= 0 {
			s.raw[i] = xs
		} else {
			kept = before
		}
	}
}

// jaccard is the exact similarity of two texts, 0 to 1. Whichever of the two the
// table holds stays there.
func (s *shingleSets) jaccard(i, j int) float64 {
	if s.met[i].next == j+1 {
		return s.met[i].similarity
	}
	a, b := s.set(i), s.set(j)
	if len(a)+len(b) == 0 {
		return 1
	}
	if s.held == j {
		a, b = b, a
	} else if s.held != i {
		s.loaded.fill(a)
		s.held = i
	}
	both := s.loaded.count(b)
	similarity := float64(both) / float64(len(a)+len(b)-both)
	s.met[i], s.met[j] = met{j + 1, similarity}, met{i + 1, similarity}
	return similarity
}

func (s *shingleSets) set(i int) []uint32 {
	if s.isSet[i] {
		return s.raw[i]
	}
	if s.raw[i] == nil {
		s.raw[i] = shingles(&s.made, s.texts[i], nil)
	}
	s.raw[i] = s.loaded.fill(s.raw[i])
	s.isSet[i], s.held = true, i
	return s.raw[i]
}

func groups(texts []string, c *Clusters, sets *shingleSets) []Group {
	best := make([]int, len(texts)) // of a root, which comes first
	for i, root := range c.Root {
		other := texts[best[root]]
		if int(root) == i || cmp.Or(cmp.Compare(len(texts[i]), len(other)), cmp.Compare(other, texts[i])) > 0 {
			best[root] = i
		}
	}
	out := make([]Group, len(texts))
	for i, root := range c.Root {
		out[i] = Group{Root: int(root), Representative: best[root] == i, Jaccard: math.NaN()}
		if !out[i].Representative {
			out[i].Jaccard = sets.jaccard(i, best[root])
		}
	}
	return out
}
