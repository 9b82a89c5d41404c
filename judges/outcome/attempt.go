package outcome

import (
	"context"
	"fmt"

	"github.com/trajectory-arena/arena"
)

// attempt is one attempt while it is scored.
type attempt struct {
	products *documents
	titles   Titles
	problem  *arena.Problem
	scores   arena.Scores
	// compared and leftOut count titles with and without vectors.
	compared, leftOut int
}

// score fills the scores. Its error is a stopError, or says why there are none.
func (a *attempt) score(ctx context.Context, t *arena.Trace, problems *specs) error {
	s, err := problems.of(t, a.problem)
	if err != nil {
		return err
	}
	d, err := readDialogue(t)
	if err != nil {
		return err
	}
	a.scores.Length, a.scores.Format = d.length, d.format
	pairs, err := a.lookUp(s, d.recommended)
	if err != nil {
		return err
	}
	if err := a.embed(ctx, pairs); err != nil {
		return &stopError{err}
	}
	if s.single && len(pairs) == 0 {
		return nil
	}
	return a.fill(s, pairs)
}

// held is one recommended product held against one reward.
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
func (a *attempt) lookUp(s spec, recommended []string) ([]held, error) {
	var pairs []held
	for i := range s.rewards[:min(len(s.rewards), len(recommended))] {
		h := held{product: a.products.document(recommended[i]), reward: &s.rewards[i]}
		if h.product == nil {
			continue
		}
		var err error
		if h.gold, err = isGold(h.product, h.reward); err == nil {
			err = a.findTitles(&h)
		}
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, h)
	}
	return pairs, nil
}

// fill writes the axes.
func (a *attempt) fill(s spec, pairs []held) error {
	axes := &arena.Axes{}
	basket := basket{shops: map[string]bool{}}
	for i := range pairs {
		rule, err := a.add(axes, &pairs[i])
		if err == nil && rule > 0 && !s.single {
			err = basket.add(pairs[i].product.fields)
		}
		if err != nil {
			return err
		}
	}
	divide(axes, float64(len(s.rewards)))
	a.scores.Axes = axes
	return a.close(s, &basket)
}

// close writes the axis that a task has for its products together.
func (a *attempt) close(s spec, b *basket) error {
	all := b.count == len(s.rewards)
	switch {
	case a.problem.Category == arena.CategoryShop:
		a.scores.Axes.Shop = flag(all && len(b.shops) == 1)
	case a.problem.Category == arena.CategoryVoucher && !all:
		a.scores.Axes.Budget = flag(false)
	case a.problem.Category == arena.CategoryVoucher:
		fits, err := b.fits(s.voucher)
		if err != nil {
			return fmt.Errorf("voucher: %w", err)
		}
		a.scores.Axes.Budget = flag(fits)
	}
	return nil
}

// add adds one product's scores and returns its rule score.
func (a *attempt) add(axes *arena.Axes, h *held) (float64, error) {
	titles, err := a.compareTitles(h)
	if err != nil {
		return 0, fmt.Errorf("title: %w", err)
	}
	t, err := check(h.product, h.reward, titles)
	if err != nil {
		return 0, err
	}
	rule := t.rule()
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
	return rule, nil
}

func divide(a *arena.Axes, n float64) {
	for _, axis := range []*float64{&a.Product, &a.GT, &a.Rule, &a.Title, &a.Price, &a.Service, &a.SKUAttrs} {
		*axis /= n
	}
}

func flag(ok bool) *int {
	n := 0
	if ok {
		n = 1
	}
	return &n
}

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
