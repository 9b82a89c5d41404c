package outcome

import (
	"context"

	"github.com/trajectory-arena/arena"
)

// attempt is the state of scoring one attempt (one agent run at one problem) by the subnet's rules.
type attempt struct {
	products *documents
	titles   Titles
	problem  *arena.Problem
	note     func(id string)
	scores   arena.Scores
	// compared counts the reward titles that were compared with a product's title. skipped
	// counts those that could not be compared because a vector was missing.
	compared, skipped int
}

// score computes a.scores. If the attempt cannot be scored, it panics with the reason (see
// python.Raise). An error means that the run cannot continue.
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

// match is a recommended product together with the reward (what the problem demands of one product)
// against which it is checked.
type match struct {
	product *document
	reward  *reward
	// gold reports whether the product is the one that the reward names.
	gold bool
	// title is the product's title. wanted are the reward's titles with which it is compared, if
	// any. vector and vectors are their embeddings, nil if there are none.
	title   string
	wanted  []string
	vector  []float64
	vectors [][]float64
}

// match returns the recommended products, each with the reward (the demands of the problem) of the
// same position in the list. Products or rewards without a counterpart, and products that are not
// in the catalogue, are left out. A product task has one reward.
func (a *attempt) match(s spec, recommended []string) []match {
	var matches []match
	for i := range s.rewards[:min(len(s.rewards), len(recommended))] {
		if a.note != nil {
			a.note(recommended[i])
		}
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
	// The task's axis for all its products together.
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

// addScores adds the scores of one recommended product to the attempt's scores. It returns the
// product's rule score: the share of its checks that passed, or 1 for the gold product, which the
// problem names as the right one.
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

// newFlag returns a pointer to 1 if ok is true, and to 0 otherwise.
func newFlag(ok bool) *int {
	flag := 0
	if ok {
		flag = 1
	}
	return &flag
}

// titleSource returns by which data titles were compared in this attempt. It is TitlesVectors
// (embeddings stored with the problem) only if the stored vectors were sufficient for at least one
// title, or if the problem has vectors and no title had to be compared.
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
