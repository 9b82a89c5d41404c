package guard

import "slices"

// ClusterID names the cluster of the problem with this specification hash;
// empty where the state does not know it.
func (s *State) ClusterID(spec string) string {
	if i, known := s.bySpec[spec]; known {
		return s.Clusters[i].ID
	}
	return ""
}

// Protected returns entries for all eval and never-touch clusters: one a
// request, or one by specification where the state holds no request.
func (s *State) Protected(bank string) []Entry {
	none := func(string) bool { return false }
	return append(s.ProtectedIn(PoolEval, bank, none, none), s.ProtectedIn(PoolNeverTouch, bank, none, none)...)
}

// ProtectedIn returns the entries of one protected pool that the caller does
// not have from the problems themselves: each request that is not known, and
// the products of each cluster of which a specification is not known.
func (s *State) ProtectedIn(pool Pool, bank string, knownSpec, knownText func(string) bool) []Entry {
	var out []Entry
	for _, c := range s.Clusters {
		if c.Pool != pool {
			continue
		}
		texts := slices.DeleteFunc(slices.Clone(c.Texts), knownText)
		unknown := slices.ContainsFunc(c.Problems, func(spec string) bool { return !knownSpec(spec) })
		if len(texts) == 0 && unknown {
			texts = []string{""}
		}
		for _, text := range texts {
			out = append(out, Entry{ID: c.ID, Bank: bank, Text: text, ProductIDs: c.ProductIDs, Spec: c.ID})
		}
	}
	return out
}
