package outcome

import (
	"context"

	"github.com/trajectory-arena/arena"
)

// attempt is the state of scoring one attempt.
type attempt struct {
	products *documents
	titles   Titles
	problem  *arena.Problem
	scores   arena.Scores
	// compared and skipped count titles with and without vectors.
	compared, skipped int
}

// score sets the scores, or raises the reason why there are none. Its error ends
// the run.
func (a *attempt) score(
	ctx context.Context,
	t *arena.Trace,
	s spec,
) error {
	d := readDialogue(t)
	a.scores.Length = d.length
	a.scores.Format = d.format
	matches := a.match(s, d.recommended)
	if err := a.embed(ctx, matches); err != nil {
		return err
	}
	if !s.single || len(matches) > 0 {
		a.scores.Axes = a.scoreAxes(s, matches)
	}
	return nil
}

// match is a recommended product with the reward that it is checked against.
type match struct {
	product *document
	reward  *reward
	gold    bool
	// title is the product's title and wanted are the reward's, if they are
	// compared; vector and vectors are their embeddings, nil if there is none.
	title   string
	wanted  []string
	vector  []float64
	vectors [][]float64
}

// match returns the i-th recommended product with the i-th reward. A product task
// has one reward. Ids that the catalogue does not have are skipped.
func (a *attempt) match(s spec, recommended []string) []match {
	var matches []match
	for i := range s.rewards[:min(len(s.rewards), len(recommended))] {
		m := match{
			product: a.products.document(recommended[i]),
			reward:  &s.rewards[i],
		}
		if m.product == nil {
			continue
		}
		m.gold = isGold(m.product.fields, m.reward.value)
		a.findTitles(&m)
		matches = append(matches, m)
	}
	return matches
}

func (a *attempt) scoreAxes(s spec, matches []match) *arena.Axes {
	axes := &arena.Axes{}
	basket := basket{shops: map[string]bool{}}
	for i := range matches {
		rule := a.addScores(axes, &matches[i])
		if rule > 0 && !s.single {
			basket.add(matches[i].product.fields)
		}
	}
	n := float64(len(s.rewards))
	for _, axis := range []*float64{&axes.Product, &axes.GT, &axes.Rule, &axes.Title, &axes.Price, &axes.Service, &axes.SKUAttrs} {
		*axis /= n
	}
	// The axis that a task has for its products together.
	complete := basket.count == len(s.rewards)
	switch a.problem.Category {
	case arena.CategoryShop:
		axes.Shop = newFlag(complete && len(basket.shops) == 1)
	case arena.CategoryVoucher:
		axes.Budget = newFlag(complete && basket.fits(s.voucher))
	case arena.CategoryProduct:
	}
	return axes
}

// addScores adds the scores of one product to the axes and returns its rule score.
func (a *attempt) addScores(axes *arena.Axes, m *match) float64 {
	t := check(m.product, m.reward, a.compareTitles(m))
	rule := t.ratio(axisTitle, axisPrice, axisService, axisOptions)
	axes.Product++
	if m.gold {
		rule = 1
		axes.GT++
	}
	axes.Rule += rule
	axes.Title += t.ratio(axisTitle)
	axes.Price += t.ratio(axisPrice)
	axes.Service += t.ratio(axisService)
	axes.SKUAttrs += t.ratio(axisOptions)
	return rule
}

// newFlag returns a pointer to 1 or 0.
func newFlag(ok bool) *int {
	flag := 0
	if ok {
		flag = 1
	}
	return &flag
}

// titleSource returns the source of title similarity. It is TitlesVectors only if
// vectors sufficed to compare at least one title, or no title had to be compared and the
// problem has vectors.
func (a *attempt) titleSource() arena.TitleSource {
	if a.titles == nil {
		return arena.TitlesNone
	}
	if source := a.titles.Source(); source != arena.TitlesVectors {
		return source
	}
	hasVectors := a.problem != nil && len(a.problem.TitleVectors) > 0
	if a.compared > 0 || a.skipped == 0 && hasVectors {
		return arena.TitlesVectors
	}
	return arena.TitlesNone
}
