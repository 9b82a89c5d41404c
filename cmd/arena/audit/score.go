package audit

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/traces"
)

// scoreFlags are what a user can say to `arena score`.
type scoreFlags struct {
	cli.DayFlags
	problems []string
	catalogs []string
	titles   instrument.Embeddings
}

// NewScore makes `arena score`.
func NewScore(s *cli.Streams) *cobra.Command {
	f := scoreFlags{}
	c := &cobra.Command{
		Use:   "score DAY…",
		Short: "Score attempts by the subnet's own outcome rules",
		Long: `Score attempts by the subnet's own outcome rules: one line of JSON per attempt, in
input order. An attempt that the rules cannot score has the score null and says why.

Titles are compared by the vectors that a problem carries, or by a model behind
--embeddings; where there is neither they are left out of the rule. The rules, with
their oddities: docs/outcome.md.`,
		Example: `  arena score testdata/day -o scores.jsonl
  zcat testdata/day/traces/*/output.jsonl.gz | arena score - -o - \
    --problems testdata/day/problems.jsonl --catalog testdata/day/catalog.jsonl
  # with a server of embeddings at that address
  arena score testdata/day --embeddings http://127.0.0.1:8080/v1 -o -`,
		Args: cli.Takes(1, cli.AnyNumber),
		RunE: func(c *cobra.Command, days []string) error { return f.run(c.Context(), s, days) },
	}
	c.Flags().StringArrayVar(&f.problems, "problems", nil, "problems instead of the day's problems.jsonl")
	c.Flags().StringArrayVar(&f.catalogs, "catalog", nil, "catalogue instead of the day's catalog.jsonl")
	cli.Reads(c, "problems", "catalog")
	f.Register(c, runtime.NumCPU(), "workers")
	f.Noisy.Flags(c)
	f.titles.Flags(c, instrument.Titles)
	return c
}

func (f *scoreFlags) run(ctx context.Context, s *cli.Streams, days []string) error {
	if err := f.Check(); err != nil {
		return err
	}
	titles, err := f.titles.Titles()
	if err != nil {
		return err
	}
	r := &scoreRun{Scan: cli.Scan{DayFlags: &f.DayFlags, Name: "score", Streams: s, Limits: traces.DefaultLimits()}, flags: f}
	return r.lines(ctx, days, titles)
}
