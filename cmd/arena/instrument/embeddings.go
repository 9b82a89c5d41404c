package instrument

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/pipeline"
)

// Use is a kind of texts that are compared by embeddings.
type Use string

// The uses of embeddings: the subnet's rules compare titles, and the guard compares
// requests with protected problems.
const (
	Titles Use = "titles"
	Guard  Use = "guard"
)

// Embeddings are the flags for an embeddings endpoint and its uses. The zero value, of
// commands without the flags, uses no endpoint.
type Embeddings struct {
	endpoint model.EmbedderConfig
	keyEnv   string
	uses     []string
	required bool
}

// Flags adds the flags to c. The first of uses is the default use.
func (f *Embeddings) Flags(c *cobra.Command, uses ...Use) {
	f.endpoint, f.uses = model.DefaultEmbedder(), []string{string(uses[0])}
	cli.Group(c, "Embeddings:", func(c *cobra.Command) {
		c.Flags().StringVar(
			&f.endpoint.BaseURL,
			"embeddings",
			"",
			"compare meanings through this OpenAI-compatible address, ending in /v1: by default those of "+f.uses[0],
		)
		c.Flags().StringVar(&f.endpoint.Model, "embeddings-model", f.endpoint.Model, "model to ask for")
		c.Flags().StringVar(&f.endpoint.Prefix, "embeddings-prefix", "", "text before each input, for models that need it")
		c.Flags().StringVar(&f.keyEnv, "embeddings-key-env", "", "environment variable that holds the key")
		c.Flags().DurationVar(&f.endpoint.Timeout, "embeddings-timeout", f.endpoint.Timeout, "time for one request")
		c.Flags().IntVar(&f.endpoint.Tries, "embeddings-tries", f.endpoint.Tries, "tries of one request while the server is busy or broken")
		if len(uses) > 1 {
			c.Flags().StringSliceVar(&f.uses, "embeddings-for", f.uses, "what the embeddings compare: titles (for the subnet's rules), guard (requests with protected ones), or both, separated by a comma")
		}
		if slices.Contains(uses, Guard) {
			c.Flags().BoolVar(&f.required, "embeddings-required", false, "fail if the guard's embedding tier cannot run")
		}
	})
}

// check returns an error if the flags on embeddings contradict each other, for example if the
// guard's comparison is required but --embeddings-for leaves the guard out. It also reads the
// server's key from the environment.
func (f *Embeddings) check() error {
	usual := model.DefaultEmbedder()
	for _, use := range f.uses {
		if use != string(Titles) && use != string(Guard) {
			return cli.Usage(fmt.Errorf("--embeddings-for %s", use), "want titles, guard or titles,guard")
		}
	}
	configured := f.required || f.keyEnv != "" || f.endpoint.Prefix != "" || f.endpoint.Model != usual.Model
	if f.endpoint.BaseURL == "" && f.uses != nil && configured {
		return cli.Misuse("nothing says where embeddings come from", "give --embeddings, or leave the other --embeddings flags out")
	}
	if f.required && !f.compare(Guard) {
		return cli.Misuse(
			"the guard's embedding tier is required and not asked for",
			"add --embeddings-for "+strings.Join(append(f.uses, string(Guard)), ","),
		)
	}
	if f.endpoint.Key = os.Getenv(f.keyEnv); f.keyEnv != "" && f.endpoint.Key == "" {
		return cli.Usage(fmt.Errorf("environment variable %s is not set", f.keyEnv), "set it to the endpoint's key")
	}
	return nil
}

func (f *Embeddings) compare(use Use) bool {
	return f.endpoint.BaseURL != "" && slices.Contains(f.uses, string(use))
}

// Titles returns the comparison of titles: by the vectors in the problems, or by the
// endpoint.
func (f *Embeddings) Titles() (outcome.Titles, error) {
	if err := f.check(); err != nil || !f.compare(Titles) {
		return outcome.Carried{}, err
	}
	e, err := f.open()
	return outcome.NewEndpoint(e), err
}

func (f *Embeddings) open() (*model.Embedder, error) {
	e, err := model.OpenEmbedder(f.endpoint)
	if err != nil {
		err = cli.Usage(err, "give --embeddings as http://host:port/v1")
	}
	return e, err
}

// TitlesInstrument returns what scores depend on: the model, not its address.
func (f *Embeddings) TitlesInstrument() pipeline.TitlesInstrument {
	if !f.compare(Titles) {
		return pipeline.TitlesInstrument{Source: arena.TitlesVectors}
	}
	return pipeline.TitlesInstrument{
		Source: arena.TitlesEndpoint,
		Model:  f.endpoint.Model,
		Prefix: f.endpoint.Prefix,
	}
}

// Tier returns the guard's embedding tier for a build, or nil if none is used.
func (f *Embeddings) Tier() (pipeline.Embedding, error) {
	if err := f.check(); err != nil || !f.compare(Guard) {
		return nil, err
	}
	return f.start, nil
}

// start starts the guard's search for reworded copies of protected problems by comparing
// embeddings. It returns nil if the embedding server is down and the comparison is not required;
// the report then contains that it did not run.
func (f *Embeddings) start(
	ctx context.Context,
	g *guard.Guard,
	report *guard.Report,
) (*guard.EmbeddingTier, error) {
	e, err := f.open()
	if err != nil {
		return nil, err
	}
	t, err := guard.NewEmbeddingTier(ctx, g, e)
	switch {
	case err == nil:
		t.Required = f.required
		report.Ran = append(report.Ran, guard.TierEmbedding)
		return t, nil
	case f.required || ctx.Err() != nil:
		return nil, cli.Failed(err, "is the endpoint up?")
	}
	report.NotRun = "embedding: " + err.Error()
	return nil, nil
}

// TierHint is the hint if a requested tier did not finish: the other tiers decided, and the
// output is marked.
const TierHint = "the other tiers decided and all is written; run it again once the endpoint answers (--embeddings-required then writes nothing without it)"
