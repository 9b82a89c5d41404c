package guard

import (
	"fmt"
	"slices"
	"strings"
)

// Release takes clusters out of the held-out pool that ids name, so that they are
// split anew. All that is held out of a cluster must be named: it is on one side.
func (s *State) Release(ids []string) error {
	known := map[string]bool{}
	for i := range s.Clusters {
		c := &s.Clusters[i]
		if c.Pool != PoolHeldOut || !slices.ContainsFunc(c.HeldOut, func(id string) bool { return slices.Contains(ids, id) }) {
			continue
		}
		if kept := slices.DeleteFunc(slices.Clone(c.HeldOut), func(id string) bool { return slices.Contains(ids, id) }); len(kept) > 0 {
			return fmt.Errorf("release %s: its cluster holds out %s too: name it as well", strings.Join(ids, ", "), strings.Join(kept, ", "))
		}
		for _, id := range c.HeldOut {
			known[id] = true
		}
		c.Released, c.HeldOut, c.Pool = sortedOnce(append(c.Released, c.HeldOut...)), nil, ""
	}
	for _, id := range ids {
		if !known[id] {
			return fmt.Errorf("release %q: the bank holds no problem of that name out", id)
		}
	}
	return nil
}

// Released are the problems that were held out once and were released, sorted.
func (s *State) Released() (ids []string) {
	for _, c := range s.Clusters {
		ids = append(ids, c.Released...)
	}
	return sortedOnce(ids)
}

// HoldsOut is the first of ids that a held-out cluster names; empty for none.
func (s *State) HoldsOut(ids []string) string {
	for _, c := range s.Clusters {
		for _, id := range c.HeldOut {
			if slices.Contains(ids, id) {
				return id
			}
		}
	}
	return ""
}
