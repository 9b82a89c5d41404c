package outcome

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sashabaranov/go-openai"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/webclient"
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
	if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		all = append(all, errors.New("the address of the embeddings endpoint is not http://… or https://…"))
	}
	if c.Model == "" {
		all = append(all, errors.New("the embeddings endpoint has no model"))
	}
	if c.Tries < 1 || c.Wait <= 0 || c.Timeout <= 0 {
		all = append(all, fmt.Errorf("the embeddings endpoint has %d tries, a wait of %v, a time-out of %v: each must be positive", c.Tries, c.Wait, c.Timeout))
	}
	return errors.Join(all...)
}

const (
	// batch is the most texts that one request holds.
	batch = 64
	// maxReply is far above 64 vectors of 4,096 numbers, which are some 4 MB.
	maxReply = 64 << 20
	// cached is how many vectors are kept: 256 MiB of 1,024 dimensions.
	cached = 1 << 16
	// suiteModel made the vectors that published suites carry. They may stand
	// beside an endpoint's own only if it serves that very model.
	suiteModel = "qwen3-embedding-0.6b"
)

// Endpoint asks an OpenAI-compatible server for embeddings. It may be used by
// several goroutines at once.
type Endpoint struct {
	config EndpointConfig
	api    *openai.Client

	mu        sync.Mutex
	dimension int
	vectors   map[[sha256.Size]byte][]float64
}

// NewEndpoint returns a client. It asks nothing yet.
func NewEndpoint(c EndpointConfig) (*Endpoint, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("check embeddings endpoint: %w", err)
	}
	config := openai.DefaultConfig(c.Key)
	config.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	config.HTTPClient = webclient.New(c.Timeout, maxReply)
	return &Endpoint{config: c, api: openai.NewClientWithConfig(config), vectors: map[[sha256.Size]byte][]float64{}}, nil
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

// fill gets the vector of each text that has none, from the cache or the
// server.
func (e *Endpoint) fill(ctx context.Context, texts []string, all [][]float64) error {
	var missing []string
	for i, text := range texts {
		if all[i] == nil {
			all[i] = e.known(text)
		}
		if all[i] == nil && !slices.Contains(missing, text) {
			missing = append(missing, text)
		}
	}
	asked := map[string][]float64{}
	for some := range slices.Chunk(missing, batch) {
		vectors, err := e.ask(ctx, some)
		if err != nil {
			return fmt.Errorf("embed titles with %s: %w", e.config.Model, err)
		}
		for i, text := range some {
			asked[text] = vectors[i]
		}
	}
	for i, text := range texts {
		if all[i] == nil {
			all[i] = asked[text]
		}
	}
	return nil
}

func (e *Endpoint) key(text string) [sha256.Size]byte {
	return sha256.Sum256([]byte(e.config.Model + "\x00" + e.config.Prefix + "\x00" + text))
}

func (e *Endpoint) known(text string) []float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.vectors[e.key(text)]
}

// keep takes vectors into the cache, which starts anew when it is full, and
// refuses those of another dimension than all before.
func (e *Endpoint) keep(texts []string, vectors [][]float64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, v := range vectors {
		if e.dimension == 0 {
			e.dimension = len(v)
		}
		if len(v) != e.dimension || e.dimension == 0 {
			return fmt.Errorf("a vector has %d dimensions, others %d", len(v), e.dimension)
		}
		if len(e.vectors) >= cached {
			clear(e.vectors)
		}
		e.vectors[e.key(texts[i])] = v
	}
	return nil
}

// ask requests one batch, again while the server is busy or broken.
func (e *Endpoint) ask(ctx context.Context, texts []string) ([][]float64, error) {
	input := make([]string, len(texts))
	for i, text := range texts {
		input[i] = e.config.Prefix + text
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval = e.config.Wait
	vectors, err := backoff.Retry(ctx, func() ([][]float64, error) {
		reply, err := e.api.CreateEmbeddings(ctx, openai.EmbeddingRequest{
			Input: input, Model: openai.EmbeddingModel(e.config.Model), EncodingFormat: openai.EmbeddingEncodingFormatFloat,
		})
		if err == nil {
			return inOrder(reply.Data, len(texts))
		}
		if !passes(err) {
			err = backoff.Permanent(err)
		}
		return nil, err
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(uint(e.config.Tries)))
	if err != nil {
		return nil, err
	}
	return vectors, e.keep(texts, vectors)
}

// inOrder puts vectors where their index says: servers answer in any order. One
// of zeros points nowhere, and says nothing of its title.
func inOrder(data []openai.Embedding, n int) ([][]float64, error) {
	all := make([][]float64, n)
	for _, d := range data {
		if d.Index < 0 || d.Index >= n || all[d.Index] != nil || !slices.ContainsFunc(d.Embedding, func(x float32) bool { return x != 0 }) {
			return nil, backoff.Permanent(fmt.Errorf("the server's answer has no vector, or a second one, for text %d of %d", d.Index, n))
		}
		v := make([]float64, len(d.Embedding))
		for i, x := range d.Embedding {
			v[i] = float64(x)
		}
		all[d.Index] = v
	}
	if len(data) != n {
		return nil, backoff.Permanent(fmt.Errorf("the server answered %d vectors for %d texts", len(data), n))
	}
	return all, nil
}

// passes tells a failure that may pass from one that stays.
func passes(err error) bool {
	status := 0
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case errors.As(err, &api):
		status = api.HTTPStatusCode
	case errors.As(err, &request):
		status = request.HTTPStatusCode
	}
	return status == 0 || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}
