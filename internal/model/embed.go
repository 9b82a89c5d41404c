package model

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Embedder turns texts into vectors, and remembers what it asked. Its methods
// may be called from any goroutine.
type Embedder struct {
	pool          *Pool
	model, prefix string

	mu        sync.Mutex
	dimension int
	known     map[[sha256.Size]byte][]float32
}

const (
	// embedTexts is how many texts go into one request; more than 64 is refused by
	// common servers.
	embedTexts = 64
	// embedAtOnce bounds the requests in flight: scorers of several attempts share
	// one endpoint.
	embedAtOnce = 16
	// maxVector bounds one vector in a reply: 8,192 numbers of 32 characters.
	maxVector = 256 << 10
	// maxKnown bounds the numbers that are remembered, to 256 MiB.
	maxKnown = 64 << 20
)

// EmbedderConfig says which model embeds texts, and where it is.
type EmbedderConfig struct {
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

// DefaultEmbedder asks the subnet's own model five times within about ten
// seconds, which outlasts a server's restart but not its absence.
func DefaultEmbedder() EmbedderConfig {
	return EmbedderConfig{Model: "Qwen/Qwen3-Embedding-0.6B", Tries: 5, Wait: 500 * time.Millisecond, Timeout: time.Minute}
}

// Validate returns all that is wrong with c, joined.
func (c EmbedderConfig) Validate() error {
	var bad wrong.List
	bad.Unless(c.Model != "", "the embeddings endpoint has no model")
	bad.Unless(c.Tries >= 1 && c.Wait > 0 && c.Timeout > 0,
		"the embeddings endpoint has %d tries, a wait of %v, a time-out of %v: each must be positive", c.Tries, c.Wait, c.Timeout)
	return bad.Err()
}

// OpenEmbedder makes a client of an endpoint. It asks nothing yet.
func OpenEmbedder(c EmbedderConfig) (*Embedder, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("check embeddings endpoint: %w", err)
	}
	pool, err := NewPool(Config{
		URLs: []string{c.BaseURL}, Key: c.Key, Concurrency: embedAtOnce, Timeout: c.Timeout, LongestPause: c.Timeout,
		Retries: c.Tries - 1, Wait: c.Wait,
	})
	if err != nil {
		return nil, fmt.Errorf("check embeddings endpoint: %w", err)
	}
	return &Embedder{pool: pool, model: c.Model, prefix: c.Prefix, known: map[[sha256.Size]byte][]float32{}}, nil
}

// Name is the model's.
func (e *Embedder) Name() string { return e.model }

// Embed gives one vector for each text, in order, as the server made it. The
// error is a *Fault, ctx's cause, or says that vectors differ in length.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	asked := map[string][]float32{}
	var missing []string
	e.mu.Lock()
	for _, text := range texts {
		if _, twice := asked[text]; !twice {
			if asked[text] = e.known[sha256.Sum256([]byte(text))]; asked[text] == nil {
				missing = append(missing, text)
			}
		}
	}
	e.mu.Unlock()
	for some := range slices.Chunk(missing, embedTexts) {
		vectors, err := e.ask(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, text := range some {
			asked[text] = vectors[i]
		}
	}
	return slicesx.Map(texts, func(text string) []float32 { return asked[text] }), nil
}

// remember takes vectors in, forgetting all others where there are too many, and
// refuses those of another length than all before.
func (e *Embedder) remember(texts []string, vectors [][]float32) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, v := range vectors {
		if e.dimension == 0 {
			e.dimension = len(v)
		}
		if len(v) != e.dimension {
			return fmt.Errorf("a vector has %d dimensions, others have %d", len(v), e.dimension)
		}
		if len(e.known)*e.dimension >= maxKnown {
			clear(e.known)
		}
		e.known[sha256.Sum256([]byte(texts[i]))] = v
	}
	return nil
}

func (e *Embedder) ask(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	input := slicesx.Map(texts, func(text string) string { return e.prefix + text })
	body := asjson.Bytes(openai.EmbeddingRequest{
		Input: input, Model: openai.EmbeddingModel(e.model), EncodingFormat: openai.EmbeddingEncodingFormatFloat,
	})
	var reply openai.EmbeddingResponse
	_, err = e.pool.Ask(ctx, Request{Path: "/embeddings", Body: Body{body}, Most: int64(len(texts)+1) * maxVector, Read: func(b []byte) error {
		if reply = (openai.EmbeddingResponse{}); json.Unmarshal(b, &reply) != nil || reply.Data == nil {
			return errors.New("read reply: no vectors in it")
		}
		return nil
	}})
	if err == nil {
		vectors, err = inOrder(reply.Data, len(texts))
	}
	if err != nil {
		return nil, err
	}
	return vectors, e.remember(texts, vectors)
}

// inOrder puts vectors where their index says: servers answer in any order. One
// of zeros points nowhere, and says nothing of its text.
func inOrder(data []openai.Embedding, n int) ([][]float32, error) {
	all := make([][]float32, n)
	for _, d := range data {
		if d.Index < 0 || d.Index >= n || all[d.Index] != nil || !slices.ContainsFunc(d.Embedding, func(x float32) bool { return x != 0 }) {
			return nil, fmt.Errorf("the server's answer has no vector, or a second one, for text %d of %d", d.Index, n)
		}
		all[d.Index] = d.Embedding
	}
	if len(data) != n {
		return nil, fmt.Errorf("the server answered %d vectors for %d texts", len(data), n)
	}
	return all, nil
}
