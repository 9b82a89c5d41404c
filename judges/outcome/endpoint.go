package outcome

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
)

// EndpointConfig says which model embeds titles, and where it is.
type EndpointConfig struct {
	// BaseURL is the address as OpenAI clients take it, ending in /v1.
	BaseURL string
	Model   string
	// Key is sent as the bearer token; empty for a server without keys.
	Key string
	// Prefix is put before every text, for models that were trained with one.
	Prefix string
	// Tries counts all tries of one request.
	Tries int
	// Wait is the pause after the first failed try; it grows from there.
	Wait time.Duration
	// Timeout bounds one try.
	Timeout time.Duration
}

// DefaultEndpoint asks the subnet's own model five times within about ten
// seconds, which outlasts a server's restart but not its absence.
func DefaultEndpoint() EndpointConfig {
	return EndpointConfig{Model: "Qwen/Qwen3-Embedding-0.6B", Tries: 5, Wait: 500 * time.Millisecond, Timeout: time.Minute}
}

// Validate returns all that is wrong with c, joined.
func (c EndpointConfig) Validate() error {
	var all []error
	if c.Model == "" {
		all = append(all, errors.New("the embeddings endpoint has no model"))
	}
	if c.Tries < 1 || c.Wait <= 0 || c.Timeout <= 0 {
		all = append(all, fmt.Errorf("the embeddings endpoint has %d tries, a wait of %v, a time-out of %v: each must be positive", c.Tries, c.Wait, c.Timeout))
	}
	return errors.Join(all...)
}

// suiteModel made the vectors that published suites carry. They may stand
// beside an endpoint's own only if it serves that very model.
const suiteModel = "qwen3-embedding-0.6b"

// titlesAtOnce bounds the requests in flight: scorers of several attempts share
// one endpoint.
const titlesAtOnce = 16

// Endpoint asks an OpenAI-compatible server for embeddings. It may be used by
// several goroutines at once.
type Endpoint struct {
	config EndpointConfig
	model  *model.Embedder
}

// NewEndpoint returns a client. It asks nothing yet.
func NewEndpoint(c EndpointConfig) (*Endpoint, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("check embeddings endpoint: %w", err)
	}
	pool, err := model.NewPool(model.Config{
		URLs: []string{c.BaseURL}, Key: c.Key, Concurrency: titlesAtOnce, Timeout: c.Timeout, LongestPause: c.Timeout,
		Retries: c.Tries - 1, Wait: c.Wait,
	})
	if err != nil {
		return nil, fmt.Errorf("check embeddings endpoint: %w", err)
	}
	return &Endpoint{config: c, model: model.NewEmbedder(pool, c.Model, c.Prefix)}, nil
}

// Source implements Titles.
func (e *Endpoint) Source() arena.TitleSource { return arena.TitlesEndpoint }

// Vectors implements Titles. As in the subnet's scorer, vectors that the
// problem carries stand for its reward titles, where the endpoint serves the
// model that made them; a product's title is always embedded.
func (e *Endpoint) Vectors(ctx context.Context, p *arena.Problem, products, rewards []string) (ofProducts, ofRewards [][]float64, err error) {
	all := make([][]float64, len(products)+len(rewards))
	if strings.Contains(strings.ToLower(e.config.Model), suiteModel) {
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
			return fmt.Errorf("embed titles with %s: its vectors have %d dimensions, those of the problem %d", e.config.Model, len(all[0]), len(v))
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
		return fmt.Errorf("embed titles with %s: %w", e.config.Model, err)
	}
	for i := range all {
		if all[i] == nil {
			all[i], vectors = wide(vectors[0]), vectors[1:]
		}
	}
	return nil
}

// wide is a vector in the precision that the subnet compares in.
func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
