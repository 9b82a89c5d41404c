package guard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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

// NewEmbedder returns a client of the endpoint; nothing is sent yet.
func NewEmbedder(cfg EmbedderConfig) (*model.Embedder, error) {
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
	return model.NewEmbedder(pool, cfg.Model, cfg.Prefix), nil
}

const (
	// embedTimeout bounds one try; servers embed a request's texts in seconds.
	embedTimeout = time.Minute
	// embedWait is the first pause between tries; four take some five seconds.
	embedWait = 500 * time.Millisecond
)

// embed returns one vector of unit length for each text, in order.
func embed(ctx context.Context, e *model.Embedder, texts []string) ([][]float32, error) {
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed texts: %w", err)
	}
	for i, v := range vectors {
		length := float32(math.Sqrt(dot(v, v)))
		vectors[i] = slices.Clone(v)
		for j := range v {
			vectors[i][j] /= length
		}
	}
	return vectors, nil
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
