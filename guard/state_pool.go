package guard

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

// ProtectedIn returns the entries of one protected pool, as Protected does.
func (s *State) ProtectedIn(pool Pool, bank string) []Entry {
	var out []Entry
	for _, c := range s.Clusters {
		if c.Pool == pool {
			out = append(out, Entry{ID: c.ID, Bank: bank, ProductIDs: c.ProductIDs, Spec: c.ID})
		}
	}
	return out
}
