package yuma

import (
	"cmp"
	"slices"
)

// Flow is what one validator gives one node after clipping.
type Flow struct {
	Validator int `json:"validator" parquet:"validator"`
	Node      int `json:"node" parquet:"node"`
	// Share is of all stake-weighted weight that consensus left.
	Share float64 `json:"share" parquet:"share"`
}

// Flows are the largest flows of an epoch, at most most of them.
func (r *Result) Flows(most int) (all []Flow) {
	total := 0.0
	for i, row := range r.Weights {
		for _, w := range row {
			flow := Flow{i, w.To, r.Nodes[i].Stake * w.Weight}
			all, total = append(all, flow), total+flow.Share
		}
	}
	for i := range all {
		all[i].Share = share(all[i].Share, total)
	}
	slices.SortStableFunc(all, func(a, b Flow) int { return cmp.Compare(b.Share, a.Share) })
	return all[:min(most, len(all))]
}

// Largest are the nodes with the most emission, at most most of them.
func (r *Result) Largest(most int) []Node {
	all := slices.Clone(r.Nodes)
	slices.SortStableFunc(all, func(a, b Node) int { return cmp.Compare(b.Emission, a.Emission) })
	return all[:min(most, len(all))]
}
