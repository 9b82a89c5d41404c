package outcome

import (
	"context"

	"github.com/trajectory-arena/arena"
)

type attempt struct {
	products *documents
	titles   Titles
	problem  *arena.Problem
	scores   arena.Scores
	// compared and leftOut count titles with and without vectors.
	compared, leftOut int
}

// score fills the scores, or raises why there are none. Its error ends the run.
func (a *attempt) score(ctx context.Context, t *arena.Trace, s spec) error {
	d := readDialogue(t)
	a.scores.Length, a.scores.Format = d.length, d.format
	pairs := a.lookUp(s, d.recommended)
	if err := a.embed(ctx, pairs); err != nil {
		return err
	}
	if !s.single || len(pairs) > 0 {
		a.fill(s, pairs)
	}
	return nil
}

type held struct {
	product *document
	reward  *wish
	gold    bool
	// title of the product and wanted titles, where they are compared, and
	// their embeddings, nil where there is none.
	title   string
	wanted  []string
	vector  []float64
	vectors [][]float64
}

// lookUp pairs the i-th recommended product with the i-th reward; a product
// task has one reward. Ids that the catalogue does not know pair with nothing.
func (a *attempt) lookUp(s spec, recommended []string) (pairs []held) {
	for i := range s.rewards[:min(len(s.rewards), len(recommended))] {
		h := held{product: a.products.document(recommended[i]), reward: &s.rewards[i]}
		if h.product == nil {
			continue
		}
		h.gold = isGold(h.product.fields, h.reward.value)
		a.findTitles(&h)
		pairs = append(pairs, h)
	}
	return pairs
}

func (a *attempt) fill(s spec, pairs []held) {
	axes := &arena.Axes{}
	basket := basket{shops: map[string]bool{}}
	for i := range pairs {
		if rule := a.add(axes, &pairs[i]); rule > 0 && !s.single {
			basket.add(pairs[i].product.fields)
		}
	}
	n := float64(len(s.rewards))
	for _, axis := range []*float64{&axes.Product, &axes.GT, &axes.Rule, &axes.Title, &axes.Price, &axes.Service, &axes.SKUAttrs} {
		*axis /= n
	}
	a.scores.Axes = axes
	// The axis that a task has for its products together.
	all := basket.count == len(s.rewards)
	switch a.problem.Category {
	case arena.CategoryShop:
		axes.Shop = flag(all && len(basket.shops) == 1)
	case arena.CategoryVoucher:
		axes.Budget = flag(all && basket.fits(s.voucher))
	case arena.CategoryProduct:
	}
}

// add adds one product's scores and returns its rule score.
func (a *attempt) add(axes *arena.Axes, h *held) float64 {
	t := check(h.product, h.reward, a.compareTitles(h))
	rule := t.share(axisTitle, axisPrice, axisService, axisOptions)
	axes.Product++
	if h.gold {
		rule = 1
		axes.GT++
	}
	axes.Rule += rule
	axes.Title += t.share(axisTitle)
	axes.Price += t.share(axisPrice)
	axes.Service += t.share(axisService)
	axes.SKUAttrs += t.share(axisOptions)
	return rule
}

func flag(ok bool) *int { return new(map[bool]int{true: 1}[ok]) }

// source says where title similarity came from: carried vectors count only
// where they sufficed for at least one title, or none was needed.
func (a *attempt) source() arena.TitleSource {
	switch {
	case a.titles == nil:
		return arena.TitlesNone
	case a.titles.Source() != arena.TitlesVectors:
		return a.titles.Source()
	case a.compared > 0, a.leftOut == 0 && a.problem != nil && len(a.problem.TitleVectors) > 0:
		return arena.TitlesVectors
	default:
		return arena.TitlesNone
	}
}
