package guard

import "slices"

// ClusterID names the cluster of the problem with this specification hash;
// empty where the state does not know it.
func (s *State) ClusterID(spec string) string {
	for _, c := range s.Clusters {
		for _, p := range c.Problems {
			if p == spec {
				return c.ID
			}
		}
	}
	return ""
}

// ProtectedIn returns the entries of one protected pool, as Protected does,
// leaving out clusters all of whose problems are known: their texts are at
// hand, which protects them better.
func (s *State) ProtectedIn(pool Pool, bank string, known func(spec string) bool) []Entry {
	var out []Entry
	for _, c := range s.Clusters {
		unknown := slices.ContainsFunc(c.Problems, func(spec string) bool { return !known(spec) })
		if c.Pool == pool && unknown {
			out = append(out, Entry{ID: c.ID, Bank: bank, ProductIDs: c.ProductIDs, Spec: c.ID})
		}
	}
	return out
}
