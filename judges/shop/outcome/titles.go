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

// minCosine is the minimum cosine between the vectors of two titles that count as equal, as in the
// subnet's own scorer (orm in its code).
const minCosine = 0.7

// Titles is a source of title embeddings, by which titles are compared.
type Titles interface {
	// Vectors returns one embedding for each title of a product and for each title of a reward.
	// An embedding is nil if there is none for the title. An error means that the run cannot
	// continue.
	Vectors(ctx context.Context, p *arena.Problem, products, rewards []string) (productVectors, rewardVectors [][]float64, err error)
	// Source returns the kind of source of the vectors.
	Source() arena.TitleSource
}

// Carried is a source that uses the vectors stored in the problem. Published suites have vectors
// of reward titles only, so a product's title can be compared only if it is one of them.
type Carried struct{}

// Source returns arena.TitlesVectors. It implements Titles.
func (Carried) Source() arena.TitleSource { return arena.TitlesVectors }

// Vectors returns the vectors that the problem has for the titles. It implements Titles.
func (Carried) Vectors(
	_ context.Context, p *arena.Problem, products, rewards []string,
) (productVectors, rewardVectors [][]float64, err error) {
	return problemVectors(p, products), problemVectors(p, rewards), nil
}

func problemVectors(p *arena.Problem, titles []string) [][]float64 {
	return slicesx.Map(titles, func(title string) []float64 {
		return p.TitleVectors[title]
	})
}

// findTitles sets m.title and m.wanted, the titles to compare. It sets none for the gold
// product, whose title matches by definition.
//
// It panics by python.Raise where the subnet's scorer fails. That scorer requires a title of
// every product but the gold one if the task has several products. If titles are embedded by a
// model, which accepts text only, a title must be a string.
func (a *attempt) findTitles(m *match) {
	if m.gold {
		return
	}
	items(m.reward.value)
	wanted, hasWanted := m.reward.value.Get("title")
	several := a.problem.Category != arena.CategoryProduct
	embeds := a.titles != nil && a.titles.Source() == arena.TitlesEndpoint
	title, _ := m.product.fields.Get("title")
	if several || embeds && hasWanted {
		title = get(m.product.fields, "title")
	}

	defer python.Within("title")
	isText := title.Kind == python.Str
	needsText := embeds && (several || hasWanted)
	if needsText && !isText {
		python.Raise("%s cannot be embedded", kindName(title))
	}
	if !isText || !hasWanted || a.titles == nil {
		return
	}
	m.title = title.Text
	texts, fault := textElements(wanted)
	m.wanted = texts
	if embeds {
		python.Reraise(fault)
	}
}

// textElements returns the strings in the list v. The fault is an error if v contains anything
// else.
func textElements(v value) (texts []string, fault error) {
	var elements []value
	fault = python.Catch(func() { elements = iterate(v) })
	for _, element := range elements {
		if element.Kind == python.Str {
			texts = append(texts, element.Text)
		} else {
			fault = fmt.Errorf("%s cannot be embedded", kindName(element))
		}
	}
	return texts, fault
}

// embed sets the vectors of all titles that have to be compared, those of products and of rewards
// (the problem's demands), with one call of Titles. An error means that the run cannot continue.
func (a *attempt) embed(ctx context.Context, matches []match) error {
	var products, rewards []string
	for i := range matches {
		if len(matches[i].wanted) > 0 {
			products = append(products, matches[i].title)
			rewards = append(rewards, matches[i].wanted...)
		}
	}
	if len(products) == 0 {
		return nil
	}
	productVectors, rewardVectors, err := a.titles.Vectors(ctx, a.problem, products, rewards)
	if err != nil {
		return err
	}
	for i := range matches {
		n := len(matches[i].wanted)
		if n == 0 {
			continue
		}
		matches[i].vector = productVectors[0]
		matches[i].vectors = rewardVectors[:n]
		productVectors = productVectors[1:]
		rewardVectors = rewardVectors[n:]
	}
	return nil
}

// compareTitles returns, for each title of the reward that can be compared, whether the product's
// title matches it, and counts the titles in a.compared and a.skipped. For the gold product all
// titles match, and none is counted.
func (a *attempt) compareTitles(m *match) []bool {
	if m.gold {
		defer python.Within("title")
		items(m.reward.value)
		return slices.Repeat([]bool{true}, len(iterateKey(m.reward.value, "title")))
	}
	var hits []bool
	for _, v := range m.vectors {
		if m.vector == nil || v == nil {
			a.skipped++
			continue
		}
		a.compared++
		hits = append(hits, cosine(m.vector, v) >= minCosine)
	}
	return hits
}

// cosine returns the cosine of the angle between two vectors. It returns 0 if a vector is zero
// or their lengths differ.
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
