package outcome

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
)

// suiteModel made the vectors that published suites carry. They may stand
// beside an endpoint's own only if it serves that very model.
const suiteModel = "qwen3-embedding-0.6b"

// Endpoint asks an OpenAI-compatible server for embeddings. It may be used by
// several goroutines at once.
type Endpoint struct{ model *model.Embedder }

// NewEndpoint compares titles by an embedder's vectors.
func NewEndpoint(e *model.Embedder) *Endpoint { return &Endpoint{e} }

// Source implements Titles.
func (e *Endpoint) Source() arena.TitleSource { return arena.TitlesEndpoint }

// Vectors implements Titles. As in the subnet's scorer, vectors that the
// problem carries stand for its reward titles, where the endpoint serves the
// model that made them; a product's title is always embedded.
func (e *Endpoint) Vectors(ctx context.Context, p *arena.Problem, products, rewards []string) (ofProducts, ofRewards [][]float64, err error) {
	all := make([][]float64, len(products)+len(rewards))
	if strings.Contains(strings.ToLower(e.model.Name()), suiteModel) {
		copy(all[len(products):], carried(p, rewards))
	}
	if err = e.fill(ctx, slices.Concat(products, rewards), all); err == nil {
		err = e.comparable(all)
	}
	return all[:len(products)], all[len(products):], err
}

// comparable refuses a server that serves the suites' model at another length
// than theirs: every title would be far from every other.
func (e *Endpoint) comparable(all [][]float64) error {
	for _, v := range all {
		if len(v) != len(all[0]) {
			return fmt.Errorf("embed titles with %s: its vectors have %d dimensions, those of the problem %d", e.model.Name(), len(all[0]), len(v))
		}
	}
	return nil
}

// fill gets the vector of each text that has none.
func (e *Endpoint) fill(ctx context.Context, texts []string, all [][]float64) error {
	var missing []string
	for i, text := range texts {
		if all[i] == nil {
			missing = append(missing, text)
		}
	}
	vectors, err := e.model.Embed(ctx, missing)
	if err != nil {
		return fmt.Errorf("embed titles with %s: %w", e.model.Name(), err)
	}
	for i := range all {
		if all[i] == nil {
			for _, x := range vectors[0] { // in the precision that the subnet compares in
				all[i] = append(all[i], float64(x))
			}
			vectors = vectors[1:]
		}
	}
	return nil
}
