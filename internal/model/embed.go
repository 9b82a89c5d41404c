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

// Embedder converts texts to vectors and caches them. Its methods are safe for concurrent use.
type Embedder struct {
	pool   *Pool
	model  string
	prefix string

	mu        sync.Mutex
	dimension int
	cache     map[[sha256.Size]byte][]float32
}

const (
	// embedTexts is the number of texts per request for embeddings. Common servers refuse more than
	// 64.
	embedTexts = 64
	// embedAtOnce is the maximum number of requests for embeddings in flight, since the scorers of
	// several attempts share one endpoint.
	embedAtOnce = 16
	// maxVector is the maximum size in bytes of one vector in a reply: 8,192 numbers of 32
	// characters.
	maxVector = 256 << 10
	// maxCached is the maximum number of cached float32 numbers. They need 256 MiB.
	maxCached = 64 << 20
)

// EmbedderConfig is the configuration of an Embedder.
type EmbedderConfig struct {
	// BaseURL is the base URL of the OpenAI-compatible server, ending in /v1.
	BaseURL string
	Model   string
	// Key is sent as the bearer token. It is empty if the server needs none.
	Key string
	// Prefix is prepended to every text, for models that were trained with a prefix.
	Prefix string
	// Tries is the maximum number of times that a request is sent.
	Tries int
	// Wait is the pause after the first failed try. Later pauses are longer.
	Wait time.Duration
	// Timeout is the maximum time of one try.
	Timeout time.Duration
}

// DefaultEmbedder returns the configuration for the subnet's own model, with five tries within
// about ten seconds, enough for a restart of the server.
func DefaultEmbedder() EmbedderConfig {
	return EmbedderConfig{
		Model:   "Qwen/Qwen3-Embedding-0.6B",
		Tries:   5,
		Wait:    500 * time.Millisecond,
		Timeout: time.Minute,
	}
}

// Validate returns one error that joins everything that is wrong with c, or nil.
func (c EmbedderConfig) Validate() error {
	var bad wrong.List
	bad.Unless(c.Model != "", "the embeddings endpoint has no model")
	bad.Unless(c.Tries >= 1 && c.Wait > 0 && c.Timeout > 0,
		"the embeddings endpoint has %d tries, a wait of %v, a time-out of %v: each must be positive", c.Tries, c.Wait, c.Timeout)
	return bad.Err()
}

// OpenEmbedder returns an embedder for an endpoint. It does not send a request.
func OpenEmbedder(c EmbedderConfig) (*Embedder, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("check embeddings endpoint: %w", err)
	}
	pool, err := NewPool(Config{
		URLs:         []string{c.BaseURL},
		Key:          c.Key,
		Concurrency:  embedAtOnce,
		Timeout:      c.Timeout,
		LongestPause: c.Timeout,
		Retries:      c.Tries - 1,
		Wait:         c.Wait,
	})
	if err != nil {
		return nil, fmt.Errorf("check embeddings endpoint: %w", err)
	}
	return &Embedder{
		pool:   pool,
		model:  c.Model,
		prefix: c.Prefix,
		cache:  map[[sha256.Size]byte][]float32{},
	}, nil
}

// Name returns the name of the model.
func (e *Embedder) Name() string { return e.model }

// Embed returns one vector per text, in the order of texts, as the server computed it. The error
// is a *Fault, ctx's cause, or one about vectors of different lengths.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := map[string][]float32{}
	var missing []string
	e.mu.Lock()
	for _, text := range texts {
		if _, duplicate := vectors[text]; duplicate {
			continue
		}
		vectors[text] = e.cache[sha256.Sum256([]byte(text))]
		if vectors[text] == nil {
			missing = append(missing, text)
		}
	}
	e.mu.Unlock()

	for batch := range slices.Chunk(missing, embedTexts) {
		fetched, err := e.ask(ctx, batch)
		if err != nil {
			return nil, err
		}
		for i, text := range batch {
			vectors[text] = fetched[i]
		}
	}
	return slicesx.Map(texts, func(text string) []float32 {
		return vectors[text]
	}), nil
}

// store adds the vectors of texts to the cache. If the cache is full, store empties it first. It
// returns an error if a vector does not have the length of earlier ones.
func (e *Embedder) store(texts []string, vectors [][]float32) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, v := range vectors {
		if e.dimension == 0 {
			e.dimension = len(v)
		}
		if len(v) != e.dimension {
			return fmt.Errorf("a vector has %d dimensions, others have %d", len(v), e.dimension)
		}
		if len(e.cache)*e.dimension >= maxCached {
			clear(e.cache)
		}
		e.cache[sha256.Sum256([]byte(texts[i]))] = v
	}
	return nil
}

func (e *Embedder) ask(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	input := slicesx.Map(texts, func(text string) string {
		return e.prefix + text
	})
	body := asjson.Bytes(openai.EmbeddingRequest{
		Input: input, Model: openai.EmbeddingModel(e.model), EncodingFormat: openai.EmbeddingEncodingFormatFloat,
	})
	var reply openai.EmbeddingResponse
	readReply := func(b []byte) error {
		reply = openai.EmbeddingResponse{}
		if json.Unmarshal(b, &reply) != nil || reply.Data == nil {
			return errors.New("read reply: no vectors in it")
		}
		return nil
	}
	maxBytes := int64(len(texts)+1) * maxVector
	_, err = e.pool.Ask(ctx, Request{
		Path:     "/embeddings",
		Body:     Body{body},
		MaxBytes: maxBytes,
		Read:     readReply,
	})
	if err != nil {
		return nil, err
	}
	vectors, err = sortByIndex(reply.Data, len(texts))
	if err != nil {
		return nil, err
	}
	return vectors, e.store(texts, vectors)
}

// sortByIndex returns the vectors of n texts in the order of the texts, since servers may return
// them in any order. It returns an error for a missing, duplicate or all-zero vector.
func sortByIndex(data []openai.Embedding, n int) ([][]float32, error) {
	vectors := make([][]float32, n)
	for _, d := range data {
		outOfRange := d.Index < 0 || d.Index >= n
		if outOfRange || vectors[d.Index] != nil || isZero(d.Embedding) {
			return nil, fmt.Errorf("the server's answer has no vector, or a second one, for text %d of %d", d.Index, n)
		}
		vectors[d.Index] = d.Embedding
	}
	if len(data) != n {
		return nil, fmt.Errorf("the server answered %d vectors for %d texts", len(data), n)
	}
	return vectors, nil
}

func isZero(vector []float32) bool {
	return !slices.ContainsFunc(vector, func(x float32) bool { return x != 0 })
}
