package instrument

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/pipeline"
)

// EmbedFlags say where the embedding tier's vectors come from.
type EmbedFlags struct {
	config   guard.EmbedderConfig
	keyEnv   string
	Required bool
}

// Register adds the flags to c.
func (f *EmbedFlags) Register(c *cobra.Command) {
	c.Flags().StringVar(&f.config.BaseURL, "embed-endpoint", "", "also compare meanings through this OpenAI-compatible address, ending in /v1")
	c.Flags().StringVar(&f.config.Model, "embed-model", "", "model to ask for")
	c.Flags().StringVar(&f.config.Prefix, "embed-prefix", "", "text before each request, for models that want one")
	c.Flags().StringVar(&f.keyEnv, "embed-key-env", "", "environment variable that holds the key")
	c.Flags().UintVar(&f.config.Tries, "embed-tries", 4, "tries of one request while the server is busy or broken")
	c.Flags().BoolVar(&f.Required, "embed-required", false, "fail if the embedding tier cannot run")
}

// embedder makes the client that the flags describe.
func (f *EmbedFlags) embedder() (_ *model.Embedder, err error) {
	if f.config.Key, err = key(f.keyEnv); err != nil {
		return nil, err
	}
	e, err := guard.NewEmbedder(f.config)
	if err != nil {
		return nil, cli.Usage(err, "give --embed-endpoint and --embed-model together")
	}
	return e, nil
}

// asked reports whether the embedding tier is wanted. What is said about it without
// a place where vectors come from is refused: a tier that is required would not
// run, and nobody would know.
func (f *EmbedFlags) asked() (bool, error) {
	if f.config.BaseURL != "" || f.config.Model != "" {
		return true, nil
	}
	if f.Required || f.keyEnv != "" || f.config.Prefix != "" {
		return false, cli.Usage(errors.New("nothing says where embeddings come from"), "give --embed-endpoint and --embed-model, or leave the other --embed flags out")
	}
	return false, nil
}

// Tier starts the embedding tier, nil where none is asked for or where the
// endpoint is down and not required; the report then says so.
func (f *EmbedFlags) Tier(ctx context.Context, g *guard.Guard, report *guard.Report) (*guard.EmbeddingTier, error) {
	if asked, err := f.asked(); !asked {
		return nil, err
	}
	e, err := f.embedder()
	if err != nil {
		return nil, err
	}
	t, err := guard.NewEmbeddingTier(ctx, g, e)
	switch {
	case err == nil:
		t.Required = f.Required
		report.Ran = append(report.Ran, guard.TierEmbedding)
		return t, nil
	case f.Required || ctx.Err() != nil:
		return nil, cli.Failed(err, "is the endpoint up?")
	}
	report.NotRun = "embedding: " + err.Error()
	return nil, nil
}

// TierHint helps where a tier that was asked for did not run to its end: the
// others decided, and what is written is marked.
const TierHint = "the other tiers decided and all is written; run it again once the endpoint answers (--embed-required then writes nothing without it)"

// Start is the embedding tier of a build; nil where none is asked for.
func (f *EmbedFlags) Start() (pipeline.Embedding, error) {
	if asked, err := f.asked(); !asked {
		return nil, err
	}
	return f.Tier, nil
}
