package guard

import (
	"slices"

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
