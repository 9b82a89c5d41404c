package outcome

import (
	"context"
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
)

// sameTitle is the cosine from which two titles count as alike [oro orm].
const sameTitle = 0.7

// Titles says how alike titles are.
type Titles interface {
	// Vectors returns an embedding for each text, nil for a text it has none
	// for. It fails only if the run cannot go on.
	Vectors(ctx context.Context, p *arena.Problem, texts []string) ([][]float64, error)
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
func (Carried) Vectors(_ context.Context, p *arena.Problem, texts []string) ([][]float64, error) {
	all := make([][]float64, len(texts))
	for i, text := range texts {
		all[i] = p.TitleVectors[text]
	}
	return all, nil
}

// wantsTitles tells whether the titles of a pair are compared: the gold product
// has the right title by definition.
func (a *attempt) wantsTitles(h held) bool {
	return !h.gold && a.titles != nil
}

// needTitle fails where the subnet needs the product's title and it has none:
// in tasks with several products it reads that of every product but the gold.
func (a *attempt) needTitle(h held) error {
	several := a.problem.Category != arena.CategoryProduct
	modelled := a.wantsTitles(h) && a.titles.Source() == arena.TitlesEndpoint
	if h.gold || !several && !modelled {
		return nil
	}
	_, err := get(h.product, "title")
	return err
}

// embed gets the vectors of all titles of the attempt at once.
func (a *attempt) embed(ctx context.Context, pairs []held) error {
	var texts []string
	for _, h := range pairs {
		if a.wantsTitles(h) {
			texts = append(texts, titlesOf(h)...)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := a.titles.Vectors(ctx, a.problem, texts)
	if err != nil {
		return err
	}
	a.vectors = make(map[string][]float64, len(texts))
	for i, text := range texts {
		a.vectors[text] = vectors[i]
	}
	return nil
}

// titlesOf lists the product's title and then the reward's; nothing if there
// is nothing to compare.
func titlesOf(h held) []string {
	title, ok := h.product["title"].(string)
	reward, _ := h.reward.(object)
	wanted, err := iterate(reward["title"])
	if !ok || err != nil {
		return nil
	}
	all := []string{title}
	for _, w := range wanted {
		if s, ok := w.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// compareTitles has a hit or miss for each of the reward's titles that could
// be compared.
func (a *attempt) compareTitles(h held) ([]bool, error) {
	reward, err := items(h.reward)
	if err != nil {
		return nil, err
	}
	wanted, ok := reward["title"]
	if h.gold && ok {
		n, err := length(wanted)
		return slices.Repeat([]bool{true}, n), err
	}
	if !ok || !a.wantsTitles(h) {
		return nil, nil
	}
	texts := titlesOf(h)
	var hits []bool
	for _, text := range texts[min(1, len(texts)):] {
		x, y := a.vectors[texts[0]], a.vectors[text]
		if x == nil || y == nil {
			a.leftOut++
			continue
		}
		a.compared++
		hits = append(hits, cosine(x, y) >= sameTitle)
	}
	return hits, nil
}

// cosine divides the lengths out: stored vectors are not of unit length. It is
// 0 where either vector is, or their dimensions differ.
func cosine(a, b []float64) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb float64
	for i := range a {
		dot += a[i] * b[i]
		aa += a[i] * a[i]
		bb += b[i] * b[i]
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / (math.Sqrt(aa) * math.Sqrt(bb))
}
