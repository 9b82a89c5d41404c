package guard

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Members names all protected problems that a row to be dropped belongs to. A Finding names one of
// them.
type Members struct {
	guard *Guard
	// groups are the clusters of the bank, members the indices of the problems of each group.
	groups  forest
	members map[int][]int
	// byID and byText have the indices of the problems with an id, or with a normalised request.
	byID, byText map[string][]int
}

// Members groups the bank for Members.Problems. The only error is that of ctx.
func (g *Guard) Members(ctx context.Context) (*Members, error) {
	groups, err := groupEntries(ctx, g.bank)
	if err != nil {
		return nil, fmt.Errorf("cluster the protected bank: %w", err)
	}
	m := &Members{
		guard:   g,
		groups:  groups,
		members: map[int][]int{},
		byID:    map[string][]int{},
		byText:  map[string][]int{},
	}
	for i, e := range g.bank {
		m.members[groups.find(i)] = append(m.members[groups.find(i)], i)
		m.byID[e.ID] = append(m.byID[e.ID], i)
		if key := normalised(e.Text); key != "" {
			m.byText[key] = append(m.byText[key], i)
		}
	}
	return m, nil
}

// Problems returns the ids of the protected problems that a row belongs to, each once: the problem of the
// row's own id, those whose request the row repeats, that of the finding, those of which the row
// rewards an item, and then all other members of the clusters of these problems, in the order of
// the bank. It returns nil for a row that is not dropped.
func (m *Members) Problems(c Candidate, f Finding) []string {
	if !f.Drop {
		return nil
	}
	found := slices.Clone(m.byID[c.ID])
	found = append(found, m.repeated(c)...)
	found = append(found, m.byID[f.Match]...)
	for _, id := range c.ItemIDs {
		if i, ok := m.guard.index().spec.byItem[id]; ok {
			found = append(found, i)
		}
	}

	others := map[int]bool{}
	for _, i := range found {
		for _, member := range m.members[m.groups.find(i)] {
			others[member] = true
		}
	}
	var ids []string
	for _, i := range append(found, slices.Sorted(maps.Keys(others))...) {
		if id := m.guard.bank[i].ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// repeated returns which protected problems a row repeats word for word, as indices in m's bank
// (the list of these problems). A problem is repeated if its complete request is one of the row's
// texts, is inside one of them, or is split over the messages of its conversation. An index may
// occur several times.
func (m *Members) repeated(c Candidate) (found []int) {
	texts := slices.Concat([]string{c.Text}, c.Context, c.Answers, c.Results, c.Metadata)
	for _, text := range texts {
		found = append(found, m.byText[normalised(text)]...)
	}
	texts = append(texts, strings.Join(c.Conversation, " "))
	x := m.guard.index().ngram
	for _, text := range texts {
		found = append(found, x.whole(text, x.count(text), m.guard.bank)...)
	}
	return found
}
