package guard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard/lexical"
)

// Cluster is a set of problems that must stay on one side of a split: they
// share a product, directly or through others, or their requests are the same
// or nearly so.
type Cluster struct {
	// ID is the smallest specification hash of the members, 64 hex digits.
	ID string
	// Problems are indices into the list that was clustered, ascending.
	Problems []int
	// Specs are the members' specification hashes, sorted, each once.
	Specs []string
	// ProductIDs are all gold products of the members, sorted, each once.
	ProductIDs []string
	// Texts are the members' requests, sorted, each once.
	Texts []string
	// Titles are the names of the gold products, sorted, each once.
	Titles []string
}

// Clusters groups problems by shared gold products and by text: equal after
// normalisation, or so near that the guard would drop one for the other.
// Clusters are ordered by ID; their members do not depend on the order of
// problems. The only error is that of ctx.
func Clusters(ctx context.Context, problems []arena.Problem) ([]Cluster, error) {
	bank := make([]Entry, len(problems))
	for i, p := range problems {
		bank[i] = EntryOf("", p, "")
	}
	joined, err := joinEntries(ctx, bank)
	if err != nil {
		return nil, fmt.Errorf("cluster problems: %w", err)
	}
	groups := map[int][]int{}
	for i := range problems {
		root := joined.find(i)
		groups[root] = append(groups[root], i)
	}
	clusters := make([]Cluster, 0, len(groups))
	for _, members := range groups {
		clusters = append(clusters, newCluster(problems, members))
	}
	slices.SortFunc(clusters, func(a, b Cluster) int { return strings.Compare(a.ID, b.ID) })
	return clusters, nil
}

func newCluster(problems []arena.Problem, members []int) Cluster {
	c := Cluster{Problems: members}
	for _, i := range members {
		c.Specs = append(c.Specs, SpecHash(problems[i]))
		if text := strings.ToValidUTF8(problems[i].Query, "\ufffd"); normalised(text) != "" {
			c.Texts = append(c.Texts, text)
		}
		for _, r := range problems[i].Rewards {
			if r.ProductID != "" {
				c.ProductIDs = append(c.ProductIDs, r.ProductID)
			}
			c.Titles = append(c.Titles, r.Titles...)
		}
	}
	c.Specs, c.ProductIDs = sortedOnce(c.Specs), sortedOnce(c.ProductIDs)
	c.Texts, c.Titles = sortedOnce(c.Texts), sortedOnce(c.Titles)
	c.ID = c.Specs[0]
	return c
}

// joinShared joins what has a key in common.
func joinShared[T any](all []T, keys func(*T) []string) *forest {
	joined, first := newForest(len(all)), map[string]int{}
	for i := range all {
		for _, key := range keys(&all[i]) {
			if j, seen := first[key]; seen {
				joined.join(i, j)
			} else {
				first[key] = i
			}
		}
	}
	return joined
}

// forest is a union-find over indices with the smallest index as root.
type forest struct{ parent []int }

func newForest(n int) *forest {
	f := &forest{parent: make([]int, n)}
	for i := range f.parent {
		f.parent[i] = i
	}
	return f
}

func (f *forest) find(i int) int {
	for f.parent[i] != i {
		f.parent[i] = f.parent[f.parent[i]]
		i = f.parent[i]
	}
	return i
}

func (f *forest) apart(i, j int) bool { return f.find(i) != f.find(j) }

func (f *forest) join(i, j int) {
	a, b := f.find(i), f.find(j)
	f.parent[max(a, b)] = min(a, b)
}

func sortedOnce(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

// joinEntries joins entries with a product, a specification or a normalised
// request in common, or with requests that the guard takes for one another.
func joinEntries(ctx context.Context, bank []Entry) (*forest, error) {
	joined := joinShared(bank, (*Entry).keys)
	return joined, lexical.Join(ctx, requests(bank), joined.apart, joined.join)
}

func (e *Entry) keys() []string {
	var keys []string
	if e.Spec != "" {
		keys = append(keys, "spec "+e.Spec)
	}
	if text := normalised(e.Text); text != "" {
		keys = append(keys, "text "+text)
	}
	for _, id := range e.ProductIDs {
		if id != "" {
			keys = append(keys, "product "+id)
		}
	}
	return keys
}
