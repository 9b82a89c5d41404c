package guard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/trajectory-arena/arena/internal/model"
)

// EmbedderConfig says where vectors come from.
type EmbedderConfig struct {
	// BaseURL is an OpenAI-compatible address ending in /v1.
	BaseURL string
	Key     string
	Model   string
	// Prefix stands before each text, for models that want one ("query: ").
	Prefix string
	// Tries is how often one request is made while the server is busy, broken or
	// not there.
	Tries uint
}

// Embedder turns texts into vectors of unit length.
type Embedder struct {
	config EmbedderConfig
	model  *model.Embedder
}

// NewEmbedder returns an embedder; nothing is sent yet.
func NewEmbedder(cfg EmbedderConfig) (*Embedder, error) {
	if cfg.BaseURL == "" || cfg.Model == "" {
		return nil, errors.New("configure embeddings: address and model are both needed")
	}
	pool, err := model.NewPool(model.Config{
		URLs: []string{cfg.BaseURL}, Key: cfg.Key, Concurrency: 1, Timeout: embedTimeout, LongestPause: embedTimeout,
		Retries: int(max(cfg.Tries, 1)) - 1, Wait: embedWait, //nolint:gosec // tries are few
	})
	if err != nil {
		return nil, fmt.Errorf("configure embeddings: %w", err)
	}
	return &Embedder{config: cfg, model: model.NewEmbedder(pool, cfg.Model, cfg.Prefix)}, nil
}

const (
	// embedTimeout bounds one try; servers embed a request's texts in seconds.
	embedTimeout = time.Minute
	// embedWait is the first pause between tries; four take some five seconds.
	embedWait = 500 * time.Millisecond
)

// Embed returns one vector for each text, in order.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.model.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed texts: %w", err)
	}
	for i, v := range vectors {
		vectors[i] = unitLength(v)
	}
	return vectors, nil
}

// unitLength scales a vector that is not all zeros.
func unitLength(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return out
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
