package minhash

import (
	"fmt"
	"math"
	"slices"
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
// texts that collide are sorted.
func Texts(texts []string, o Options) ([]Group, *Clusters, error) {
	sigs := make([]Packed, len(texts))
	sets := &shingleSets{texts: texts, raw: make([][]uint32, len(texts)), sorted: make([]bool, len(texts))}
	sig := Signature{}
	for i, t := range texts {
		xs := sets.made.shingles([]byte(t))
		signShingles(xs, &sig)
		sigs[i] = sig.Pack()
		sets.keep(i, xs)
	}
	c, err := Cluster(sigs, sets.jaccard, o)
	if err != nil {
		return nil, nil, fmt.Errorf("cluster texts: %w", err)
	}
	return groups(texts, c, sets), c, nil
}

// maxKept bounds the shingles that are kept from signing: 64 MiB. Those of
// later texts are made again when they collide.
const maxKept = 16 << 20

// keptBlock is how many shingles are allocated at a time.
const keptBlock = 1 << 16

// shingleSets holds the shingles of texts and sorts them as they are asked for.
type shingleSets struct {
	texts  []string
	raw    [][]uint32
	sorted []bool
	block  []uint32
	kept   int
	made   shingler
	buffer []uint32
}

func (s *shingleSets) keep(i int, xs []uint32) {
	if s.kept+len(xs) > maxKept {
		return
	}
	s.kept += len(xs)
	if len(s.block)+len(xs) > cap(s.block) {
		s.block = make([]uint32, 0, max(keptBlock, len(xs)))
	}
	at := len(s.block)
	s.block = append(s.block, xs...)
	s.raw[i] = s.block[at:len(s.block):len(s.block)]
}

func (s *shingleSets) set(i int) []uint32 {
	if s.sorted[i] {
		return s.raw[i]
	}
	if s.raw[i] == nil {
		s.raw[i] = append([]uint32(nil), s.made.shingles([]byte(s.texts[i]))...)
	}
	s.buffer = sortNumbers(s.raw[i], s.buffer)
	s.raw[i], s.sorted[i] = slices.Compact(s.raw[i]), true
	return s.raw[i]
}

func (s *shingleSets) jaccard(i, j int) float64 { return Jaccard(s.set(i), s.set(j)) }

func groups(texts []string, c *Clusters, sets *shingleSets) []Group {
	best := map[uint32]int{}
	for i, root := range c.Root {
		if at, seen := best[root]; !seen || represents(texts[i], texts[at]) {
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

func represents(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a < b
}
