package outcome

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
)

// suiteModel is the name of the embedding model that computed the title vectors stored in the
// subnet's published problem suites. Vectors from an endpoint are comparable with them only if the
// endpoint serves this model.
const suiteModel = "qwen3-embedding-0.6b"

// Endpoint compares titles by embeddings from an OpenAI-compatible server. It is safe for
// concurrent use.
type Endpoint struct{ model *model.Embedder }

// NewEndpoint returns an Endpoint that gets its embeddings from e.
func NewEndpoint(e *model.Embedder) *Endpoint { return &Endpoint{e} }

// Source returns arena.TitlesEndpoint. It implements Titles.
func (e *Endpoint) Source() arena.TitleSource { return arena.TitlesEndpoint }

// Vectors implements Titles. As in the subnet's scorer, the vectors in the problem are used for
// the reward titles if the endpoint serves the model that computed them. A product's title is
// always embedded.
func (e *Endpoint) Vectors(
	ctx context.Context,
	p *arena.Problem,
	products, rewards []string,
) (productVectors, rewardVectors [][]float64, err error) {
	vectors := make([][]float64, len(products)+len(rewards))
	if strings.Contains(strings.ToLower(e.model.Name()), suiteModel) {
		copy(vectors[len(products):], problemVectors(p, rewards))
	}
	err = e.embedMissing(ctx, slices.Concat(products, rewards), vectors)
	return vectors[:len(products)], vectors[len(products):], err
}

// embedMissing computes with the embedding model the vector of each text whose place in vectors is
// nil, and stores it there. It returns an error if the vectors differ in length: a server may use
// the suites' model with another length, and every title would then be far from every other.
func (e *Endpoint) embedMissing(
	ctx context.Context,
	texts []string,
	vectors [][]float64,
) error {
	var missing []string
	for i, text := range texts {
		if vectors[i] == nil {
			missing = append(missing, text)
		}
	}
	embedded, err := e.model.Embed(ctx, missing)
	if err != nil {
		return fmt.Errorf("embed titles with %s: %w", e.model.Name(), err)
	}
	for i := range vectors {
		if vectors[i] == nil {
			for _, x := range embedded[0] { // the subnet compares in float64
				vectors[i] = append(vectors[i], float64(x))
			}
			embedded = embedded[1:]
		}
		if len(vectors[i]) != len(vectors[0]) {
			return fmt.Errorf("embed titles with %s: its vectors have %d dimensions, those of the problem %d",
				e.model.Name(), len(vectors[0]), len(vectors[i]))
		}
	}
	return nil
}
