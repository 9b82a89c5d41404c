package minhash

import (
	"fmt"
	"math"
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

// Texts clusters texts and compares candidates exactly. Only texts that collide
// have their shingles kept.
func Texts(texts []string, o Options) ([]Group, *Clusters, error) {
	sigs := make([]Packed, len(texts))
	signer, sig := NewSigner(), Signature{}
	for i, t := range texts {
		signer.Sign([]byte(t), &sig)
		sigs[i] = sig.Pack()
	}
	sets := &shingleSets{texts: texts, known: make([][]uint32, len(texts))}
	c, err := Cluster(sigs, sets.jaccard, o)
	if err != nil {
		return nil, nil, fmt.Errorf("cluster texts: %w", err)
	}
	return groups(texts, c, sets), c, nil
}

// shingleSets makes shingle sets as they are asked for.
type shingleSets struct {
	texts []string
	known [][]uint32
	made  shingler
}

func (s *shingleSets) set(i int) []uint32 {
	if s.known[i] == nil {
		xs := sortedSet(s.made.shingles([]byte(s.texts[i])))
		s.known[i] = append(make([]uint32, 0, len(xs)), xs...)
	}
	return s.known[i]
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
