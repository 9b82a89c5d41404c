package yuma

import (
	"cmp"
	"slices"
)

// Largest are the nodes with the most emission, at most most of them.
func (r *Result) Largest(most int) []Node {
	all := slices.Clone(r.Nodes)
	slices.SortStableFunc(all, func(a, b Node) int { return cmp.Compare(b.Emission, a.Emission) })
	return all[:min(most, len(all))]
}
