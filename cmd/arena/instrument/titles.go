package instrument

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/judges/outcome"
	"github.com/trajectory-arena/arena/pipeline"
)

// TitleFlags say how the titles of products are compared.
type TitleFlags struct {
	endpoint outcome.EndpointConfig
	keyEnv   string
}

// Flags adds the flags to c.
func (f *TitleFlags) Flags(c *cobra.Command) {
	f.endpoint = outcome.DefaultEndpoint()
	c.Flags().StringVar(&f.endpoint.BaseURL, "embeddings", "", "compare titles through this OpenAI-compatible address, ending in /v1")
	c.Flags().StringVar(&f.endpoint.Model, "embeddings-model", f.endpoint.Model, "model to ask for")
	c.Flags().StringVar(&f.endpoint.Prefix, "embeddings-prefix", "", "text before each title, for models that want one")
	c.Flags().StringVar(&f.keyEnv, "embeddings-key-env", "", "environment variable that holds the key")
	c.Flags().DurationVar(&f.endpoint.Timeout, "embeddings-timeout", time.Minute, "time for one request")
	c.Flags().IntVar(&f.endpoint.Tries, "embeddings-tries", f.endpoint.Tries, "tries of one request while the server is busy or broken")
}

// Open gives what compares titles: the vectors that problems carry, or an
// endpoint.
func (f *TitleFlags) Open() (_ outcome.Titles, err error) {
	if f.endpoint.BaseURL == "" {
		if f.keyEnv != "" || f.endpoint.Prefix != "" || f.endpoint.Model != outcome.DefaultEndpoint().Model {
			return nil, cli.Usage(errors.New("nothing says where embeddings come from"), "give --embeddings, or leave the other --embeddings flags out")
		}
		return outcome.Carried{}, nil
	}
	if f.endpoint.Key, err = key(f.keyEnv); err != nil {
		return nil, err
	}
	e, err := outcome.NewEndpoint(f.endpoint)
	if err != nil {
		return nil, cli.Usage(err, "give --embeddings as http://host:port/v1")
	}
	return e, nil
}

// Config is what scores depend on: the model, not where it runs.
func (f *TitleFlags) Config() pipeline.TitlesConfig {
	if f.endpoint.BaseURL == "" {
		return pipeline.TitlesConfig{Source: arena.TitlesVectors}
	}
	return pipeline.TitlesConfig{Source: arena.TitlesEndpoint, Model: f.endpoint.Model, Prefix: f.endpoint.Prefix}
}
