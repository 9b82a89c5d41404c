package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
)

// HoldOut is the bank that holds out the entries of held-out files and nothing
// else, to be joined with another bank by Union.
func HoldOut(entries []Entry) *State {
	parts := make([]StateCluster, len(entries))
	for i, e := range entries {
		parts[i] = clusterOf(&e)
		parts[i].Pool, parts[i].HeldOut = PoolHeldOut, []string{e.ID}
	}
	s := &State{Schema: StateSchema, Shares: DefaultShares(), Clusters: mergeGroups(parts, joinShared(parts, (*StateCluster).keys))}
	s.index()
	return s
}

// SpecHash is the entry's specification hash; without a reward it is that of its
// request, or of its products where it has none.
func (e *Entry) SpecHash() string {
	switch {
	case e.Spec != "":
		return e.Spec
	case e.Text != "":
		return SpecHash(arena.Problem{Query: e.Text})
	default:
		return hashStrings(append([]string{"products"}, e.ProductIDs...))
	}
}

// KnowsHeldOut reports whether the state says what was ever held out; one of the
// first version does not.
func (s *State) KnowsHeldOut() bool { return s.Schema != firstSchema }

// Exposed returns the held-out clusters of s of which next may train or evaluate
// on a problem: those of which it neither keeps every problem out nor says that it
// released them.
func (s *State) Exposed(next *State) []StateCluster {
	var out []StateCluster
	released := next.Released()
	for _, c := range s.Clusters {
		open := func(spec string) bool { return protection[next.Pool(spec)] < protection[PoolHeldOut] }
		secret := func(id string) bool { return !slices.Contains(released, id) }
		if c.Pool == PoolHeldOut && slices.ContainsFunc(c.Problems, open) && (len(c.HeldOut) == 0 || slices.ContainsFunc(c.HeldOut, secret)) {
			out = append(out, c)
		}
	}
	return out
}

// forget takes out what is said of protected clusters alone.
func (s *State) forget() {
	for i := range s.Clusters {
		if c := &s.Clusters[i]; c.Pool == PoolTrain {
			c.HeldOut = nil
		}
	}
}

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
