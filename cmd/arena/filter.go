package main

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/filters"
)

// filterFlags are what a user can say to `arena filter`.
type filterFlags struct {
	out       string
	runID     string
	workers   int
	quiet     bool
	unknown   string
	maxTokens int
	explain   string
	calibrate string
	reweight  bool
	scores    string
}

func newFilter(s *streams) *cobra.Command {
	var f filterFlags
	c := &cobra.Command{
		Use:   "filter DAY…",
		Short: "Say of each attempt whether a model decided its calls, and why it is kept or dropped",
		Long: `Say of each attempt whether the model itself decided its calls (axis), how surely,
and every reason to drop it: one line of JSON per attempt, in input order. Both passes
are made: the attempt by itself, then the habits of its agent over the whole day.

With --explain, --calibrate or --reweight a table for people takes the lines' place.
The rules, their weights and how far they can be trusted: docs/filter.md.`,
		Example: `  arena filter testdata/day -o verdicts.jsonl
  arena filter testdata/day --explain RUN/PROBLEM
  arena filter testdata/day --calibrate testdata/day/labels.jsonl
  arena filter testdata/day --reweight --scores scores.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, days []string) error { return f.run(c, s, days) },
	}
	d := filters.Defaults()
	c.Flags().StringVarP(&f.out, "output", "o", "-", "output file; - is standard output")
	c.Flags().StringVar(&f.runID, "run-id", "stdin", "run of records that name none")
	c.Flags().IntVarP(&f.workers, "jobs", "j", runtime.NumCPU(), "workers")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no words on standard error")
	c.Flags().StringVar(&f.unknown, "unknown", string(d.Unknown), "attempts whose axis is unknown: keep or drop")
	c.Flags().IntVar(&f.maxTokens, "max-tokens", d.MaxTokens, "most tokens of a kept attempt")
	c.Flags().StringVar(&f.explain, "explain", "", "take one verdict apart; the ID is RUN/PROBLEM")
	c.Flags().StringVar(&f.calibrate, "calibrate", "", "hold the axis against labels in this JSONL file")
	c.Flags().BoolVar(&f.reweight, "reweight", false, "print the leaderboard under the planned reweighting by richness")
	c.Flags().StringVar(&f.scores, "scores", "", "outcome scores for --reweight, as `arena score` writes them")
	c.MarkFlagsMutuallyExclusive("explain", "calibrate", "reweight")
	return c
}

func (f *filterFlags) run(c *cobra.Command, s *streams, days []string) error {
	filter, err := f.filter()
	if err != nil {
		return err
	}
	if f.workers < 1 {
		return usage(fmt.Errorf("-j is %d", f.workers), "give at least one worker")
	}
	if f.scores != "" && !f.reweight {
		return usage(errors.New("--scores without --reweight"), "add --reweight")
	}
	day := &filterDay{flags: f, filter: filter, streams: s}
	switch {
	case f.explain != "":
		return day.explain(c.Context(), days)
	case f.calibrate != "":
		return day.calibrate(c.Context(), days)
	case f.reweight:
		return day.reweight(c.Context(), days)
	}
	return day.lines(c.Context(), days)
}

func (f *filterFlags) filter() (*filters.Filter, error) {
	cfg := filters.Defaults()
	cfg.Unknown = filters.UnknownPolicy(f.unknown)
	cfg.MaxTokens = f.maxTokens
	filter, err := filters.New(cfg)
	if err != nil {
		return nil, usage(err, "`arena filter --help` lists the flags and their defaults")
	}
	return filter, nil
}
