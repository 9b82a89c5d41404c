package outcome

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// sameTitle is the cosine from which two titles count as alike [oro orm].
const sameTitle = 0.7

// Titles says how alike titles are.
type Titles interface {
	// Vectors returns an embedding for each title of a product and for each
	// title of a reward, nil for one it has none for. It fails only if the run
	// cannot go on.
	Vectors(ctx context.Context, p *arena.Problem, products, rewards []string) (ofProducts, ofRewards [][]float64, err error)
	// Source names where the vectors come from.
	Source() arena.TitleSource
}

// Carried takes the vectors that a problem carries. Published suites carry
// those of reward titles only, so that a product's title can be compared where
// it is itself one of them.
type Carried struct{}

// Source implements Titles.
func (Carried) Source() arena.TitleSource { return arena.TitlesVectors }

// Vectors implements Titles.
func (Carried) Vectors(_ context.Context, p *arena.Problem, products, rewards []string) (ofProducts, ofRewards [][]float64, err error) {
	return carried(p, products), carried(p, rewards), nil
}

func carried(p *arena.Problem, titles []string) [][]float64 {
	return slicesx.Map(titles, func(title string) []float64 { return p.TitleVectors[title] })
}

// findTitles fills the titles that are compared: none for the gold product,
// whose title is right by definition.
//
// It fails where the subnet's scorer does. That one reads the title of every
// product but the gold in tasks with several products; and a model embeds text
// only, the product's title first.
func (a *attempt) findTitles(h *held) {
	if h.gold {
		return
	}
	items(h.reward.value)
	wish, wishes := h.reward.value.Get("title")
	several := a.problem.Category != arena.CategoryProduct
	embeds := a.titles != nil && a.titles.Source() == arena.TitlesEndpoint
	title, _ := h.product.fields.Get("title")
	if several || embeds && wishes {
		title = get(h.product.fields, "title")
	}
	defer python.Within("title")
	ok := title.Kind == python.Str
	if embeds && (several || wishes) && !ok {
		python.Raise("%s cannot be embedded", kind(title))
	}
	if !ok || !wishes || a.titles == nil {
		return
	}
	h.title = title.Text
	var fault error
	if h.wanted, fault = texts(wish); embeds {
		python.Reraise(fault)
	}
}

// texts lists the strings that v holds, and says if it holds anything else.
func texts(v value) (found []string, fault error) {
	var all []value
	fault = python.Catch(func() { all = iterate(v) })
	for _, item := range all {
		if item.Kind == python.Str {
			found = append(found, item.Text)
		} else {
			fault = fmt.Errorf("%s cannot be embedded", kind(item))
		}
	}
	return found, fault
}

func (a *attempt) embed(ctx context.Context, pairs []held) error {
	var products, rewards []string
	for i := range pairs {
		if len(pairs[i].wanted) > 0 {
			products = append(products, pairs[i].title)
			rewards = append(rewards, pairs[i].wanted...)
		}
	}
	if len(products) == 0 {
		return nil
	}
	ofProducts, ofRewards, err := a.titles.Vectors(ctx, a.problem, products, rewards)
	for i := range pairs {
		n := len(pairs[i].wanted)
		if n == 0 || err != nil {
			continue
		}
		pairs[i].vector, ofProducts = ofProducts[0], ofProducts[1:]
		pairs[i].vectors, ofRewards = ofRewards[:n], ofRewards[n:]
	}
	return err
}

// compareTitles has a hit or miss for each of the reward's titles that could
// be compared.
func (a *attempt) compareTitles(h *held) []bool {
	if h.gold {
		defer python.Within("title")
		items(h.reward.value)
		return slices.Repeat([]bool{true}, len(walk(h.reward.value, "title")))
	}
	var hits []bool
	for _, v := range h.vectors {
		if h.vector == nil || v == nil {
			a.leftOut++
			continue
		}
		a.compared++
		hits = append(hits, cosine(h.vector, v) >= sameTitle)
	}
	return hits
}

// cosine divides the lengths out: stored vectors are not of unit length. It is
// 0 where either vector is, or their dimensions differ.
func cosine(a, b []float64) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i] * b[i])
		aa += float64(a[i] * a[i])
		bb += float64(b[i] * b[i])
	}
	if lengths := math.Sqrt(aa) * math.Sqrt(bb); lengths > 0 {
		return dot / lengths
	}
	return 0
}
