package guard

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cenkalti/backoff/v5"
	openai "github.com/sashabaranov/go-openai"

	"github.com/trajectory-arena/arena/internal/webclient"
)

// EmbedderConfig says where vectors come from.
type EmbedderConfig struct {
	// BaseURL is an OpenAI-compatible address ending in /v1.
	BaseURL string
	Key     string
	Model   string
	// Prefix stands before each text, for models that want one ("query: ").
	Prefix string
	// Tries is how often one request is made while the server is busy.
	Tries uint
}

// Embedder turns texts into vectors of unit length. It remembers what it asked
// and is not safe for concurrent use.
type Embedder struct {
	config    EmbedderConfig
	client    *openai.Client
	known     map[[sha256.Size]byte][]float32
	dimension int
}

// NewEmbedder returns an embedder; nothing is sent yet.
func NewEmbedder(cfg EmbedderConfig) (*Embedder, error) {
	if cfg.BaseURL == "" || cfg.Model == "" {
		return nil, errors.New("configure embeddings: address and model are both needed")
	}
	c := openai.DefaultConfig(cfg.Key)
	c.BaseURL, c.HTTPClient = cfg.BaseURL, webclient.New(embedTimeout, maxEmbedReply)
	cfg.Tries = max(cfg.Tries, 1)
	return &Embedder{config: cfg, client: openai.NewClientWithConfig(c), known: map[[sha256.Size]byte][]float32{}}, nil
}

const (
	// embedTimeout bounds one try; servers embed a request's texts in seconds.
	embedTimeout = time.Minute
	// maxEmbedReply is far above 64 vectors of 4,096 numbers, which are some 4 MB.
	maxEmbedReply = 64 << 20
)

// embedTexts is how many texts go into one request; more than 64 is refused by
// common servers.
const embedTexts = 64

// maxKnown bounds the numbers that are remembered, to 256 MiB: the bank comes
// first, and of a corpus the requests that come again soon.
const maxKnown = 64 << 20

// Embed returns one vector for each text, in order.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var ask []string
	var at []int
	for i, t := range texts {
		if out[i] = e.known[e.key(t)]; out[i] == nil {
			ask, at = append(ask, t), append(at, i)
		}
	}
	for from := 0; from < len(ask); from += embedTexts {
		to := min(from+embedTexts, len(ask))
		vectors, err := e.request(ctx, ask[from:to])
		if err != nil {
			return nil, fmt.Errorf("embed texts: %w", err)
		}
		for i, v := range vectors {
			out[at[from+i]] = v
			if len(e.known)*e.dimension < maxKnown {
				e.known[e.key(ask[from+i])] = v
			}
		}
	}
	return out, nil
}

func (e *Embedder) key(text string) [sha256.Size]byte {
	return sha256.Sum256([]byte(e.config.Model + "\x00" + e.config.Prefix + "\x00" + text))
}

func (e *Embedder) request(ctx context.Context, texts []string) ([][]float32, error) {
	input := make([]string, len(texts))
	for i, t := range texts {
		input[i] = e.config.Prefix + t
	}
	req := openai.EmbeddingRequestStrings{Input: input, Model: openai.EmbeddingModel(e.config.Model), EncodingFormat: openai.EmbeddingEncodingFormatFloat}
	reply, err := backoff.Retry(ctx, func() (openai.EmbeddingResponse, error) {
		r, err := e.client.CreateEmbeddings(ctx, req)
		if err != nil && !worthRetrying(err) {
			err = backoff.Permanent(err)
		}
		return r, err
	}, backoff.WithMaxTries(e.config.Tries), backoff.WithMaxElapsedTime(5*time.Minute))
	if err != nil {
		return nil, err
	}
	return e.ordered(reply.Data, len(texts))
}

// worthRetrying reports whether the server was busy or broken.
func worthRetrying(err error) bool {
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case errors.As(err, &api):
		return api.HTTPStatusCode == 429 || api.HTTPStatusCode >= 500
	case errors.As(err, &request):
		return request.HTTPStatusCode == 429 || request.HTTPStatusCode >= 500
	}
	return false
}

// ordered puts vectors in the order of their index, which need not be that of
// the reply.
func (e *Embedder) ordered(data []openai.Embedding, n int) ([][]float32, error) {
	out := make([][]float32, n)
	for _, d := range data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, fmt.Errorf("index %d of %d is wrong or came twice", d.Index, n)
		}
		if e.dimension == 0 {
			e.dimension = len(d.Embedding)
		}
		if len(d.Embedding) != e.dimension || len(d.Embedding) == 0 {
			return nil, fmt.Errorf("a vector has %d numbers, others have %d", len(d.Embedding), e.dimension)
		}
		v, err := unitLength(d.Embedding)
		if err != nil {
			return nil, err
		}
		out[d.Index] = v
	}
	for i, v := range out {
		if v == nil {
			return nil, fmt.Errorf("no vector for text %d of %d", i+1, n)
		}
	}
	return out, nil
}

func unitLength(v []float32) ([]float32, error) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil, errors.New("a vector has no length")
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return out, nil
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
