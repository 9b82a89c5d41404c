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

// Clusters groups problems that share an item or a text: texts that are equal after
// normalisation, or so similar that the guard would drop one for the other. The clusters are
// ordered by ID and have no pool yet. The members of each do not depend on the order of problems.
// The only error is that of ctx.
func Clusters(ctx context.Context, problems []arena.Problem) ([]StateCluster, error) {
	bank := make([]Entry, len(problems))
	parts := make([]StateCluster, len(problems))
	for i, p := range problems {
		bank[i] = NewEntry("", p, "")
		parts[i] = entryCluster(&bank[i])
	}
	groups, err := groupEntries(ctx, bank)
	if err != nil {
		return nil, fmt.Errorf("cluster problems: %w", err)
	}
	return mergeGroups(parts, groups, 0), nil
}

// Groups returns the index of a group for each problem. Problems are in one group if they are in one
// cluster, or if keys returns a common key for them. The only error is that of ctx.
func Groups(ctx context.Context, problems []arena.Problem, keys func(*arena.Problem) []string) ([]int, error) {
	bank := make([]Entry, len(problems))
	for i, p := range problems {
		bank[i] = NewEntry("", p, "")
	}
	groups, err := groupEntries(ctx, bank)
	if err != nil {
		return nil, fmt.Errorf("group problems: %w", err)
	}
	declared := groupByKeys(problems, keys)
	for i := range problems {
		groups.join(i, declared.find(i))
	}
	out := make([]int, len(problems))
	for i := range out {
		out[i] = groups.find(i)
	}
	return out, nil
}

// entryCluster returns a cluster (group of related problems) that has only the protected problem e.
// Its ID and its pool (train, eval or held out) are not set yet.
func entryCluster(e *Entry) StateCluster {
	isEmpty := func(id string) bool { return id == "" }
	c := StateCluster{
		Problems: []string{e.SpecHash()},
		ItemIDs:  slices.DeleteFunc(slices.Clone(e.ItemIDs), isEmpty),
		Titles:   e.Titles,
		Terms:    e.Terms,
		Literal:  e.Literal,
		Identity: e.Identity,
		Lexicon:  e.Lexicon,
	}
	if text := strings.ToValidUTF8(e.Text, "\ufffd"); normalised(text) != "" {
		c.Texts = []string{text}
	}
	return c
}

// groupByKeys groups items: two items with a common key are in one group, also if only a chain of
// other items connects them.
func groupByKeys[T any](items []T, keys func(*T) []string) forest {
	groups := make(forest, len(items))
	first := map[string]int{}
	for i := range items {
		groups[i] = i
		for _, key := range keys(&items[i]) {
			if j, ok := first[key]; ok {
				groups.join(i, j)
			} else {
				first[key] = i
			}
		}
	}
	return groups
}

// forest is a union-find structure that partitions the indices of a slice into groups. The smallest
// index in a group identifies the group.
type forest []int

func (f forest) find(i int) int {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

func (f forest) join(i, j int) {
	a := f.find(i)
	b := f.find(j)
	f[max(a, b)] = min(a, b)
}

// groupEntries groups protected problems. Two are in one group if they share an item, a
// specification or a normalised request, or if the guard would drop the request of one for that of
// the other.
func groupEntries(ctx context.Context, bank []Entry) (forest, error) {
	groups := groupByKeys(bank, (*Entry).keys)
	for _, w := range newWordings(bank) {
		join := func(i, j int) {
			if !w.names[i].areOthers(w.names[j]) {
				groups.join(i, j)
			}
		}
		if err := lexical.Join(ctx, w.requests, groups.find, join); err != nil {
			return groups, err
		}
	}
	return groups, lexical.Join(ctx, lexicalRequests(bank), groups.find, groups.join)
}

// keys returns what a protected problem may have in common with a related one: the hash of its
// specification (what a right answer must have), its normalised request, and the ids of its items.
// Each has a prefix for its kind. Problems with a common key are put in one group.
func (e *Entry) keys() []string {
	var keys []string
	if e.Spec != "" {
		keys = append(keys, "spec "+e.Spec)
	}
	if request := normalised(e.Text); request != "" {
		keys = append(keys, "text "+request)
	}
	for _, id := range e.ItemIDs {
		if id != "" {
			keys = append(keys, storedItem+id)
		}
	}
	return keys
}

// SpecHash returns a hash that identifies a problem across days and files: the
// hex sha256 of the specification that grades it (items, titles, options,
// prices, services in a fixed order), or of its normalised request if it has no
// reward.
func SpecHash(p arena.Problem) string {
	parts := slicesx.Map(p.Rewards, rewardKey)
	slices.Sort(parts)
	if len(parts) == 0 {
		parts = []string{"query", normalised(p.Query)}
	}
	return hashStrings(parts)
}

func rewardKey(r arena.Reward) string {
	lines := addPrefix("title ", r.Titles)
	lines = append(lines, addPrefix("service ", r.Services)...)
	for _, o := range r.Attributes {
		lines = append(lines, "attribute "+o.Key+"="+o.Value)
	}
	for _, o := range r.SKUOptions {
		lines = append(lines, "sku "+o.Key+"="+o.Value)
	}
	for _, p := range r.Prices {
		lines = append(lines, "price "+p.Mode+" "+text.Optional(p.Low, "%g", "-")+" "+text.Optional(p.High, "%g", "-"))
	}
	slices.Sort(lines)
	return hashStrings(append([]string{"id " + r.ProductID}, lines...))
}

// addPrefix returns a copy of words with prefix before each word.
func addPrefix(prefix string, words []string) []string {
	return slicesx.Map(words, func(s string) string { return prefix + s })
}

// hashStrings returns the hex sha256 of a list of strings. It hashes them as a JSON array, so that
// different lists have different hashes.
func hashStrings(parts []string) string {
	b, err := json.Marshal(parts)
	if err != nil {
		b = []byte(strings.Join(parts, "\x00"))
	}
	return digest.SHA256(b)
}
