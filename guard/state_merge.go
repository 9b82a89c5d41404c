package guard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// mergeWithPrior joins today's clusters with those of prior that share a
// problem or a product, or that ask for what a protected one asks for. The
// merged pool is the most protected of the parts, empty where no part had one.
func mergeWithPrior(ctx context.Context, today []StateCluster, prior *State) ([]StateCluster, error) {
	var parts []StateCluster
	if prior != nil {
		parts = append(parts, prior.Clusters...)
	}
	parts = append(parts, today...)
	joined := joinShared(parts, (*StateCluster).keys)
	if err := joinReworded(ctx, joined, parts, len(parts)-len(today)); err != nil {
		return nil, err
	}
	return mergeGroups(parts, joined), nil
}

// joinReworded joins the clusters from position today on with the earlier cluster, in a
// group with something protected, for whose request the guard would drop one of theirs.
func joinReworded(ctx context.Context, joined forest, parts []StateCluster, today int) error {
	var bank []Entry
	var owner []int
	kept := map[int]bool{}
	for i := range parts {
		kept[joined.find(i)] = kept[joined.find(i)] || protection[parts[i].Pool] > 0
	}
	for i, c := range parts[:today] {
		if !kept[joined.find(i)] {
			continue
		}
		for _, text := range c.Texts {
			bank, owner = append(bank, Entry{ID: strconv.Itoa(len(owner)), Text: text}), append(owner, i)
		}
	}
	if len(bank) == 0 {
		return nil // no request of an earlier day is known
	}
	g, err := New(bank, Config{})
	if err != nil {
		return err
	}
	more := false
	for i := today; i < len(parts); i++ {
		if err = ctx.Err(); err != nil {
			return err
		}
		for _, text := range parts[i].Texts {
			if f := g.Check(Candidate{Text: text}); f.Drop {
				at, _ := strconv.Atoi(f.Match)
				more = more || joined.apart(i, owner[at])
				joined.join(i, owner[at])
			}
		}
	}
	if more { // others may be protected by that
		return joinReworded(ctx, joined, parts, today)
	}
	return nil
}

func (c *StateCluster) keys() []string {
	return slices.Concat(prefixed("problem ", c.Problems), prefixed("product ", c.ProductIDs))
}

func mergeGroups(parts []StateCluster, joined forest) []StateCluster {
	byRoot := map[int]*StateCluster{}
	for i, part := range parts {
		root := joined.find(i)
		c := byRoot[root]
		if c == nil {
			c = &StateCluster{ProductIDs: []string{}}
			byRoot[root] = c
		}
		c.Problems = append(c.Problems, part.Problems...)
		c.ProductIDs = append(c.ProductIDs, part.ProductIDs...)
		c.Texts = append(c.Texts, part.Texts...)
		c.Titles = append(c.Titles, part.Titles...)
		c.HeldOut = append(c.HeldOut, part.HeldOut...)
		c.Released = append(c.Released, part.Released...)
		if part.Pool != "" && (c.Pool == "" || protection[part.Pool] > protection[c.Pool]) {
			c.Pool = part.Pool
		}
	}
	out := make([]StateCluster, 0, len(byRoot))
	for _, c := range byRoot {
		c.Problems, c.ProductIDs = sortedOnce(c.Problems), sortedOnce(c.ProductIDs)
		c.Texts, c.Titles, c.HeldOut, c.Released = sortedOnce(c.Texts), sortedOnce(c.Titles), sortedOnce(c.HeldOut), sortedOnce(c.Released)
		c.ID = c.Problems[0]
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b StateCluster) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Union joins the banks of several corpora into one. Clusters that share a
// problem or a product become one, in the most protected pool of its parts;
// seed and shares are the first bank's.
func Union(first *State, others ...*State) *State {
	parts := slices.Clone(first.Clusters)
	for _, b := range others {
		parts = append(parts, b.Clusters...)
	}
	out := &State{Schema: StateSchema, Seed: first.Seed, Shares: first.Shares, Clusters: mergeGroups(parts, joinShared(parts, (*StateCluster).keys))}
	out.forget()
	out.index()
	return out
}

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

// Exposed returns the held-out clusters of s of which next may train or evaluate
// on a problem: those of which it neither keeps every problem out nor says that it
// released them.
func (s *State) Exposed(next *State) []StateCluster {
	released := next.Released()
	open := func(spec string) bool { return protection[next.Pool(spec)] < protection[PoolHeldOut] }
	secret := func(id string) bool { return !slices.Contains(released, id) }
	return slicesx.FilterMap(s.Clusters, func(c StateCluster) (StateCluster, bool) {
		return c, c.Pool == PoolHeldOut && slices.ContainsFunc(c.Problems, open) && (len(c.HeldOut) == 0 || slices.ContainsFunc(c.HeldOut, secret))
	})
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
func (s *State) Released() []string {
	return sortedOnce(slices.Concat(slicesx.Map(s.Clusters, func(c StateCluster) []string { return c.Released })...))
}

// HoldsOut is the first of ids that a held-out cluster names; empty for none.
func (s *State) HoldsOut(ids []string) string {
	for _, c := range s.Clusters {
		if at := slices.IndexFunc(c.HeldOut, func(id string) bool { return slices.Contains(ids, id) }); at >= 0 {
			return c.HeldOut[at]
		}
	}
	return ""
}
