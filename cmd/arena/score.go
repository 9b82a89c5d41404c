package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/judges/outcome"
)

// scoreFlags are what a user can say to `arena score`.
type scoreFlags struct {
	out      string
	problems []string
	catalogs []string
	runID    string
	workers  int
	noisy    noise
	endpoint outcome.EndpointConfig
	keyEnv   string
}

func newScore(s *streams) *cobra.Command {
	f := scoreFlags{endpoint: outcome.DefaultEndpoint()}
	c := &cobra.Command{
		Use:   "score DAY…",
		Short: "Score attempts by the subnet's own outcome rules",
		Long: `Score attempts by the subnet's own outcome rules: one line of JSON per attempt, in
input order. An attempt that the rules cannot score has the score null and says why.

Titles are compared by the vectors that a problem carries, or by a model behind
--embeddings; where there is neither they are left out of the rule. The rules, with
their oddities: docs/outcome.md.`,
		Example: `  arena score testdata/day -o scores.jsonl
  arena score testdata/day --embeddings http://127.0.0.1:8080/v1 -o -
  zcat day.jsonl.gz | arena score - --problems p.jsonl --catalog c.jsonl -o -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, days []string) error { return f.run(c.Context(), s, days) },
	}
	c.Flags().StringVarP(&f.out, "output", "o", "-", "output file; - is standard output")
	c.Flags().StringArrayVar(&f.problems, "problems", nil, "problems instead of the day's problems.jsonl")
	c.Flags().StringArrayVar(&f.catalogs, "catalog", nil, "catalogue instead of the day's catalog.jsonl")
	c.Flags().StringVar(&f.runID, "run-id", "stdin", "run of records that name none")
	c.Flags().IntVarP(&f.workers, "jobs", "j", runtime.NumCPU(), "workers")
	f.noisy.flags(c)
	c.Flags().StringVar(&f.endpoint.BaseURL, "embeddings", "", "compare titles through this OpenAI-compatible address, ending in /v1")
	c.Flags().StringVar(&f.endpoint.Model, "embeddings-model", f.endpoint.Model, "model to ask for")
	c.Flags().StringVar(&f.endpoint.Prefix, "embeddings-prefix", "", "text before each title, for models that want one")
	c.Flags().StringVar(&f.keyEnv, "embeddings-key-env", "", "environment variable that holds the key")
	c.Flags().DurationVar(&f.endpoint.Timeout, "embeddings-timeout", time.Minute, "time for one request")
	c.Flags().IntVar(&f.endpoint.Tries, "embeddings-tries", f.endpoint.Tries, "tries of one request while the server is busy or broken")
	return c
}

func (f *scoreFlags) run(ctx context.Context, s *streams, days []string) error {
	if f.workers < 1 {
		return usage(fmt.Errorf("-j is %d", f.workers), "give at least one worker")
	}
	titles, err := f.titles()
	if err != nil {
		return err
	}
	return (&scoreRun{flags: f, streams: s}).lines(ctx, days, titles)
}

// titles says how titles are compared.
func (f *scoreFlags) titles() (outcome.Titles, error) {
	if f.endpoint.BaseURL == "" {
		return outcome.Carried{}, nil
	}
	if f.keyEnv != "" {
		if f.endpoint.Key = os.Getenv(f.keyEnv); f.endpoint.Key == "" {
			return nil, usage(fmt.Errorf("environment variable %s is not set", f.keyEnv), "set it to the endpoint's key")
		}
	}
	e, err := outcome.NewEndpoint(f.endpoint)
	if err != nil {
		return nil, usage(err, "give --embeddings as http://host:port/v1")
	}
	return e, nil
}
