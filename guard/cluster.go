package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard/lexical"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
)

// Clusters groups problems by shared gold products and by text: equal after
// normalisation, or so near that the guard would drop one for the other.
// Clusters are ordered by ID and have no pool yet; their members do not depend on
// the order of problems. The only error is that of ctx.
func Clusters(ctx context.Context, problems []arena.Problem) ([]StateCluster, error) {
	bank, parts := make([]Entry, len(problems)), make([]StateCluster, len(problems))
	for i, p := range problems {
		bank[i] = EntryOf("", p, "")
		parts[i] = clusterOf(&bank[i])
	}
	joined, err := joinEntries(ctx, bank)
	if err != nil {
		return nil, fmt.Errorf("cluster problems: %w", err)
	}
	return mergeGroups(parts, joined), nil
}

func clusterOf(e *Entry) StateCluster {
	named := func(id string) bool { return id == "" }
	c := StateCluster{Problems: []string{e.SpecHash()}, ProductIDs: slices.DeleteFunc(slices.Clone(e.ProductIDs), named), Titles: e.Titles}
	if text := strings.ToValidUTF8(e.Text, "\ufffd"); normalised(text) != "" {
		c.Texts = []string{text}
	}
	return c
}

func joinShared[T any](all []T, keys func(*T) []string) forest {
	joined, first := make(forest, len(all)), map[string]int{}
	for i := range all {
		joined[i] = i
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
type forest []int

func (f forest) find(i int) int {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

func (f forest) apart(i, j int) bool { return f.find(i) != f.find(j) }

func (f forest) join(i, j int) {
	a, b := f.find(i), f.find(j)
	f[max(a, b)] = min(a, b)
}

func sortedOnce(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

// joinEntries joins entries with a product, a specification or a normalised
// request in common, or with requests that the guard takes for one another.
func joinEntries(ctx context.Context, bank []Entry) (forest, error) {
	joined := joinShared(bank, (*Entry).keys)
	return joined, lexical.Join(ctx, requests(bank), joined.apart, joined.join)
}

func (e *Entry) keys() []string {
	var keys []string
	if e.Spec != "" {
		keys = append(keys, "spec "+e.Spec)
	}
	if request := normalised(e.Text); request != "" {
		keys = append(keys, "text "+request)
	}
	return append(keys, slicesx.FilterMap(e.ProductIDs, func(id string) (string, bool) { return "product " + id, id != "" })...)
}

// SpecHash identifies a problem across days and files: the hex sha256 over what
// it is graded by (products, titles, options, prices, services in a fixed
// order), or over its normalised request where it has no reward.
func SpecHash(p arena.Problem) string {
	parts := slicesx.Map(p.Rewards, rewardKey)
	slices.Sort(parts)
	if len(parts) == 0 {
		parts = []string{"query", normalised(p.Query)}
	}
	return hashStrings(parts)
}

func rewardKey(r arena.Reward) string {
	lines := slices.Concat(
		prefixed("title ", r.Titles), prefixed("service ", r.Services),
		slicesx.Map(r.Attributes, func(o arena.Option) string { return "attribute " + o.Key + "=" + o.Value }),
		slicesx.Map(r.SKUOptions, func(o arena.Option) string { return "sku " + o.Key + "=" + o.Value }),
		slicesx.Map(r.Prices, func(p arena.PriceBound) string {
			return "price " + p.Mode + " " + text.Told(p.Low, "%g", "-") + " " + text.Told(p.High, "%g", "-")
		}),
	)
	slices.Sort(lines)
	return hashStrings(append([]string{"id " + r.ProductID}, lines...))
}

func prefixed(prefix string, words []string) []string {
	return slicesx.Map(words, func(s string) string { return prefix + s })
}

// hashStrings hashes parts as a JSON array, so that no two lists of parts can
// be mistaken for each other.
func hashStrings(parts []string) string {
	b, err := json.Marshal(parts)
	if err != nil {
		b = []byte(strings.Join(parts, "\x00"))
	}
	return digest.SHA256(b)
}
