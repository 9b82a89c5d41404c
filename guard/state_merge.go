package guard

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// mergeWithPrior merges today's clusters with those of earlier days in prior, which may be nil. It
// merges clusters that share a problem or an item, and those of today whose request is a
// rewording of a protected one. A merged cluster gets the most protected pool of its parts, or none
// if no part has one.
func mergeWithPrior(
	ctx context.Context,
	today []StateCluster,
	prior *State,
) ([]StateCluster, error) {
	var parts []StateCluster
	if prior != nil {
		parts = append(parts, prior.Clusters...)
	}
	parts = append(parts, today...)
	groups := groupByKeys(parts, (*StateCluster).keys)
	if err := joinReworded(ctx, groups, parts, len(parts)-len(today)); err != nil {
		return nil, err
	}
	return mergeGroups(parts, groups, len(parts)-len(today)), nil
}

// joinReworded adds each of today's clusters, parts[today:], to the group of the earlier cluster,
// one of parts[:today], of which it is a rewording: the guard would drop one of its requests
// because of one of theirs. Only earlier clusters that are protected, or in one group with a
// protected one, are compared.
func joinReworded(ctx context.Context, groups forest, parts []StateCluster, today int) error {
	isProtected := map[int]bool{}
	for i := range parts {
		if protection[parts[i].Pool] > 0 {
			isProtected[groups.find(i)] = true
		}
	}
	var bank []Entry
	var owners []int
	for i, c := range parts[:today] {
		if !isProtected[groups.find(i)] {
			continue
		}
		for _, text := range c.Texts {
			bank = append(bank, Entry{
				ID:       strconv.Itoa(len(owners)),
				Text:     text,
				Literal:  c.Literal,
				Identity: c.Identity,
				Lexicon:  c.Lexicon,
			})
			owners = append(owners, i)
		}
	}
	if len(bank) == 0 {
		return nil // no request of an earlier day is known
	}
	g, err := New(bank, Config{})
	if err != nil {
		return err
	}

	changed := false
	for i := today; i < len(parts); i++ {
		if err = ctx.Err(); err != nil {
			return err
		}
		for _, text := range parts[i].Texts {
			f := g.Check(Candidate{Text: text})
			if !f.Drop {
				continue
			}
			match, _ := strconv.Atoi(f.Match) // an ID that was set above
			if groups.find(i) != groups.find(owners[match]) {
				changed = true
				groups.join(i, owners[match])
			}
		}
	}
	if changed { // the new groups may protect other earlier clusters
		return joinReworded(ctx, groups, parts, today)
	}
	return nil
}

// keys returns the strings that decide which clusters are merged: the problems and items of the
// cluster, each with a prefix that tells the two apart. Clusters with a common string are merged.
func (c *StateCluster) keys() []string {
	return slices.Concat(addPrefix("problem ", c.Problems), addPrefix(storedItem, c.ItemIDs))
}

// mergeGroups merges each group of clusters into one cluster and returns the merged clusters,
// sorted by ID. groups tells which indices of parts are in one group. The parts[today:] are those of
// this run, whose domains say by what words the merged cluster is compared.
func mergeGroups(parts []StateCluster, groups forest, today int) []StateCluster {
	byRoot := map[int]*StateCluster{}
	for i, part := range parts {
		root := groups.find(i)
		if byRoot[root] == nil {
			byRoot[root] = &StateCluster{ItemIDs: []string{}, Literal: true}
		}
		part.wordsOf = wordsOlder
		if i >= today {
			part.wordsOf = wordsToday
		}
		if part.Literal {
			part.wordsOf = wordsLiteral
		}
		byRoot[root].add(&part)
	}
	out := make([]StateCluster, 0, len(byRoot))
	for _, c := range byRoot {
		for _, list := range []*[]string{&c.Problems, &c.ItemIDs, &c.Texts, &c.Titles, &c.Terms, &c.HeldOut, &c.Released} {
			*list = sortUnique(*list)
		}
		c.ID = c.Problems[0]
		c.wordsOf = noWords
		out = append(out, *c)
	}
	slicesx.SortByKey(out, func(c StateCluster) string {
		return c.ID
	})
	return out
}

// add appends the lists of part to those of c, without sorting them, and sets c.Pool to the more
// protected of the two pools. The merged cluster is literal, which means that its requests are
// compared only word for word, only if both are.
func (c *StateCluster) add(part *StateCluster) {
	c.addWords(part)
	c.Problems = append(c.Problems, part.Problems...)
	c.ItemIDs = append(c.ItemIDs, part.ItemIDs...)
	c.Texts = append(c.Texts, part.Texts...)
	c.Titles = append(c.Titles, part.Titles...)
	c.Terms = append(c.Terms, part.Terms...)
	c.HeldOut = append(c.HeldOut, part.HeldOut...)
	c.Released = append(c.Released, part.Released...)
	c.Literal = c.Literal && part.Literal
	if part.Pool == "" {
		return
	}
	if c.Pool == "" || protection[part.Pool] > protection[c.Pool] {
		c.Pool = part.Pool
	}
}

// addWords sets the identity and the lexicon of c to those of the parts whose words count most. If
// these parts are of several domains, all words are compared and no amount is converted.
func (c *StateCluster) addWords(part *StateCluster) {
	if part.wordsOf > c.wordsOf {
		c.wordsOf = part.wordsOf
		c.Identity = part.Identity
		c.Lexicon = part.Lexicon
	}
	if part.wordsOf < c.wordsOf {
		return
	}
	if !slices.Equal(c.Identity, part.Identity) {
		c.Identity = nil
	}
	// Lexicons are compared as stored, where an empty list is no list.
	if !bytes.Equal(asjson.Bytes(c.Lexicon), asjson.Bytes(part.Lexicon)) {
		c.Lexicon = &arena.Lexicon{}
	}
}

// newMerged returns a State (the content of bank.json: all clusters of problems, each with its
// pool) with the clusters of parts. Clusters that share a problem or an item are merged into one.
func newMerged(seed uint64, shares Shares, parts []StateCluster) *State {
	groups := groupByKeys(parts, (*StateCluster).keys)
	s := &State{
		Schema:   StateSchema,
		Seed:     seed,
		Shares:   shares,
		Clusters: mergeGroups(parts, groups, 0),
	}
	s.index()
	return s
}

// Union returns the union of the banks of several corpora. Clusters that share a
// problem or an item are merged, into the most protected pool of the parts. Seed
// and shares are those of the first bank.
func Union(first *State, others ...*State) *State {
	parts := slices.Clone(first.Clusters)
	for _, b := range others {
		parts = append(parts, b.Clusters...)
	}
	s := newMerged(first.Seed, first.Shares, parts)
	s.removeTrainHeldOut()
	return s
}

// HoldOut returns a bank that holds out the entries of held-out files and nothing
// else. Union adds it to another bank.
func HoldOut(entries []Entry) *State {
	parts := make([]StateCluster, len(entries))
	for i, e := range entries {
		parts[i] = entryCluster(&e)
		parts[i].Pool = PoolHeldOut
		parts[i].HeldOut = []string{e.ID}
	}
	return newMerged(0, DefaultShares(), parts)
}

// SpecHash returns the entry's specification hash. For an entry without a reward it is a hash of
// the request, and for one without a request a hash of the item ids.
func (e *Entry) SpecHash() string {
	switch {
	case e.Spec != "":
		return e.Spec
	case e.Text != "":
		return SpecHash(arena.Problem{Query: e.Text})
	default:
		return hashStrings(append([]string{storedItems}, e.ItemIDs...))
	}
}

// Exposed returns the held-out clusters of s that next exposes: next has one of their problems in a
// pool for training or evaluation and does not list all of their held-out ids as released.
func (s *State) Exposed(next *State) []StateCluster {
	released := next.Released()
	isOpen := func(spec string) bool {
		return protection[next.Pool(spec)] < protection[PoolHeldOut]
	}
	isSecret := func(id string) bool { return !slices.Contains(released, id) }
	var out []StateCluster
	for _, c := range s.Clusters {
		if c.Pool != PoolHeldOut || !slices.ContainsFunc(c.Problems, isOpen) {
			continue
		}
		if len(c.HeldOut) == 0 || slices.ContainsFunc(c.HeldOut, isSecret) {
			out = append(out, c)
		}
	}
	return out
}

// removeTrainHeldOut removes, from clusters in the train pool, the list of ids under which held-out
// files name their problems. bank.json has these lists for protected clusters only.
func (s *State) removeTrainHeldOut() {
	for i := range s.Clusters {
		if c := &s.Clusters[i]; c.Pool == PoolTrain {
			c.HeldOut = nil
		}
	}
}

// Release removes the clusters of the problems with these ids from the held-out
// pool, so that Split assigns them again. All held-out problems of a cluster must
// be released together, since a cluster is in one pool.
func (s *State) Release(ids []string) error {
	isReleased := func(id string) bool { return slices.Contains(ids, id) }
	released := map[string]bool{}
	for i := range s.Clusters {
		c := &s.Clusters[i]
		if c.Pool != PoolHeldOut || !slices.ContainsFunc(c.HeldOut, isReleased) {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(c.HeldOut), isReleased)
		if len(missing) > 0 {
			return fmt.Errorf("release %s: its cluster holds out %s too: name it as well",
				strings.Join(ids, ", "), strings.Join(missing, ", "))
		}
		for _, id := range c.HeldOut {
			released[id] = true
		}
		c.Released = sortUnique(append(c.Released, c.HeldOut...))
		c.HeldOut = nil
		c.Pool = ""
	}
	for _, id := range ids {
		if !released[id] {
			return fmt.Errorf("release %q: the bank holds no problem of that name out", id)
		}
	}
	return nil
}

// Released returns the ids of the problems that were held out and then released,
// sorted.
func (s *State) Released() []string {
	var ids []string
	for _, c := range s.Clusters {
		ids = append(ids, c.Released...)
	}
	return sortUnique(ids)
}

// FirstHeldOut returns the first of the held-out ids of s that is in ids, empty if
// there is none.
func (s *State) FirstHeldOut(ids []string) string {
	for _, c := range s.Clusters {
		for _, id := range c.HeldOut {
			if slices.Contains(ids, id) {
				return id
			}
		}
	}
	return ""
}
