// Package audit holds the commands that look at attempts and corpora one by one:
// filter, score, judge, agreement, leak, dedup, inspect and verify.
package audit

import (
	"errors"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/traces"
)

// filterFlags are what a user can say to `arena filter`.
type filterFlags struct {
	cli.DayFlags
	explain   string
	calibrate string
	reweight  bool
	scores    string
	problems  []string
	catalogs  []string
	settings  cli.Settings
}

// NewFilter makes `arena filter`.
func NewFilter(s *cli.Streams) *cobra.Command {
	f := filterFlags{settings: cli.BuildSettings()}
	c := &cobra.Command{
		Use:   "filter DAY…",
		Short: "Say of each attempt whether a model decided its calls, and why it is kept or dropped",
		Long: `Say of each attempt whether the model itself decided its calls (axis), how surely,
and every reason to drop it: one line of JSON per attempt, in input order. Both passes
are made: the attempt by itself, then the habits of its agent over the whole day.

With --explain, --calibrate or --reweight a table for people takes the lines' place.
The rules, their weights and how far they can be trusted: docs/filter.md.`,
		Example: `  arena filter testdata/day -o verdicts.jsonl
  arena filter testdata/day --explain 5c98a2f5-25a1-40ef-ac1c-752d7ee5e25c/c7492af7-f589-4054-a5a6-7784cb5b0f26
  arena filter testdata/day --calibrate testdata/day/labels.jsonl
  arena filter testdata/day --reweight`,
		Args: cli.Takes(1, cli.AnyNumber),
		RunE: func(c *cobra.Command, days []string) error { return f.run(c, s, days) },
	}
	f.Register(c, runtime.NumCPU(), "workers")
	f.Noisy.Flags(c)
	f.settings.Flags(c)
	c.Flags().StringVar(&f.explain, "explain", "", "take one verdict apart; the ID is RUN/PROBLEM")
	c.Flags().StringVar(&f.calibrate, "calibrate", "", "hold the axis against labels in this JSONL file")
	c.Flags().BoolVar(&f.reweight, "reweight", false, "print the leaderboard under the planned reweighting by richness")
	c.Flags().StringVar(&f.scores, "scores", "", "outcome scores for --reweight, as arena score writes them; without it they are computed")
	c.Flags().StringArrayVar(&f.problems, "problems", nil, "problems for --reweight, instead of the day's problems.jsonl")
	c.Flags().StringArrayVar(&f.catalogs, "catalog", nil, "catalogue for --reweight, instead of the day's catalog.jsonl")
	cli.Reads(c, "calibrate", "scores", "problems", "catalog")
	return c
}

func (f *filterFlags) run(c *cobra.Command, s *cli.Streams, days []string) error {
	filter, reading, err := f.filter(c)
	if err != nil {
		return err
	}
	if f.reweight && f.explain+f.calibrate != "" || f.explain != "" && f.calibrate != "" {
		return cli.Usage(errors.New("--explain, --calibrate and --reweight exclude each other"), "give one of them")
	}
	if f.scores != "" && !f.reweight {
		return cli.Usage(errors.New("--scores without --reweight"), "add --reweight")
	}
	day := &filterDay{flags: f, filter: filter, Scan: cli.Scan{DayFlags: &f.DayFlags, Name: "filter", Streams: s, Limits: reading}}
	answer := day.lines
	switch {
	case f.explain != "":
		answer = day.explain
	case f.calibrate != "":
		answer = day.calibrate
	case f.reweight:
		answer = day.reweight
	}
	if err := cli.WriteWhole(s, f.Out, func(w io.Writer) error { return answer(c.Context(), w, days) }); err != nil {
		return err
	}
	return day.Unread.Within(f.Reading.MaxUnreadable)
}

// filter builds the filter from the configuration of a build, over which the
// command's own flags go, and gives the limits of reading that stand there.
func (f *filterFlags) filter(c *cobra.Command) (*filters.Filter, traces.Limits, error) {
	cfg := pipeline.Defaults()
	if err := f.settings.Fill(&cfg); err != nil {
		return nil, cfg.Reading, err
	}
	if !c.Flags().Changed("max-unreadable") {
		f.Reading.MaxUnreadable = cfg.MaxUnreadable
	}
	filter, err := filters.New(cfg.Filter)
	if err = errors.Join(err, cfg.Reading.Validate()); err != nil {
		return nil, cfg.Reading, cli.Usage(err, "`arena filter --help` lists the flags and their defaults")
	}
	return filter, cfg.Reading, nil
}
