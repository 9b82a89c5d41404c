package guard

import "errors"

// Union joins the banks of several corpora into one. Clusters that share a
// problem or a product become one, in the most protected pool of its parts;
// seed and shares are the first bank's.
func Union(banks ...*State) (*State, error) {
	if len(banks) == 0 {
		return nil, errors.New("join banks: there is none")
	}
	var parts []StateCluster
	for _, b := range banks {
		parts = append(parts, b.Clusters...)
	}
	out := &State{Schema: StateSchema, Seed: banks[0].Seed, Shares: banks[0].Shares, Clusters: mergeGroups(parts, joinParts(parts))}
	for i := range out.Clusters {
		if out.Clusters[i].Pool == PoolTrain {
			out.Clusters[i].Texts = nil
		}
	}
	out.index()
	return out, nil
}

// joinParts joins clusters that share a problem or a product.
func joinParts(parts []StateCluster) *forest {
	joined, first := newForest(len(parts)), map[string]int{}
	for i, c := range parts {
		for _, key := range c.keys() {
			if j, seen := first[key]; seen {
				joined.join(i, j)
			} else {
				first[key] = i
			}
		}
	}
	return joined
}
