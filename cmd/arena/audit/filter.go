// Package audit holds the commands that look at attempts and corpora one by one:
// filter, score, judge, agreement, leak, dedup, inspect and verify.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/traces"
)

type filterFlags struct {
	cli.DayFlags
	explain   string
	calibrate string
	reweight  bool
	problems  []string
	catalogs  []string
	yuma      string
	miners    string
	domain    string
	settings  cli.Settings
}

// NewFilter returns `arena filter`.
func NewFilter(s *cli.Streams) *cobra.Command {
	f := filterFlags{settings: cli.BuildSettings()}
	c := cli.Command("filter DAY…", "Decide for each attempt whether a model chose its calls, and whether it is kept", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, days []string) error {
			return f.run(c, s, days)
		})
	f.Register(c, runtime.NumCPU(), "workers")
	f.Noisy.Flags(c)
	f.settings.Flags(c)
	c.Flags().StringVar(&f.explain, "explain", "", "explain one verdict; the ID is RUN/PROBLEM")
	cli.File(c, &f.calibrate, "calibrate", "hold the axis against labels in this JSONL file")
	c.Flags().BoolVar(&f.reweight, "reweight", false, "print the leaderboard under the planned reweighting by richness: the share of calls that the model itself had named")
	cli.Files(c, &f.problems, "problems", "problems for --reweight, instead of the day's problems.jsonl")
	cli.Files(c, &f.catalogs, "catalog", "catalogue for --reweight, instead of the day's catalog.jsonl")
	cli.File(c, &f.yuma, "yuma", "stake and weights of a subnet (arena contest yuma): also print what --reweight would pay through Yuma")
	c.Flags().StringVar(&f.domain, "domain", "", domainUsage)
	cli.File(c, &f.miners, "miners", "the nodes of agents for --yuma, a JSON object {agent: uid} (default: the nodes without stake)")
	return c
}

func (f *filterFlags) run(
	c *cobra.Command,
	s *cli.Streams,
	days []string,
) error {
	filter, reading, err := f.newFilter(c)
	if err != nil {
		return err
	}
	modes := 0
	for _, set := range []bool{f.reweight, f.explain != "", f.calibrate != ""} {
		if set {
			modes++
		}
	}
	if modes > 1 {
		return cli.Misuse("--explain, --calibrate and --reweight exclude each other", "give one of them")
	}
	if f.yuma != "" && !f.reweight {
		return cli.Misuse("--yuma is for --reweight", "give both")
	}
	domains, err := domain.NewSet(f.domain)
	if err != nil {
		return cli.Usage(err, "`arena list domains` lists the built-in domains")
	}
	day := &filterDay{
		flags:   f,
		filter:  filter,
		domains: domains,
		Scan: cli.Scan{
			DayFlags: &f.DayFlags,
			Name:     "filter",
			Streams:  s,
			Limits:   reading,
		},
	}
	answer := day.lines
	switch {
	case f.explain != "":
		answer = day.explain
	case f.calibrate != "":
		answer = day.calibrate
	case f.reweight:
		answer = day.reweight
	}
	return day.Write(func(w io.Writer) error {
		return answer(c.Context(), w, days)
	})
}

// newFilter returns the filter that --config and --set configure, and the configured limits for
// reading attempts. If the user did not set --max-unreadable, it sets the flag's value from the
// configuration too.
func (f *filterFlags) newFilter(c *cobra.Command) (*filters.Filter, traces.Limits, error) {
	cfg := pipeline.Defaults()
	if err := f.settings.Fill(&cfg); err != nil {
		return nil, cfg.Reading, err
	}
	if !c.Flags().Changed("max-unreadable") {
		f.Reading.MaxUnreadable = cfg.MaxUnreadable
	}
	filter, err := filters.New(cfg.Filter)
	if err == nil {
		err = cfg.Reading.Validate()
	}
	if err != nil {
		return nil, cfg.Reading, cli.Usage(err, "`arena filter --help` lists the flags and their defaults")
	}
	return filter, cfg.Reading, nil
}

type axisLabel struct {
	Family string `json:"family"`
	// Agentic is nil for an attempt in which there is nothing to label.
	Agentic *bool `json:"agentic"`
}

func (d *filterDay) calibrate(
	ctx context.Context,
	w io.Writer,
	days []string,
) error {
	labels, err := cli.ReadByAttempt[axisLabel](d.flags.calibrate, "give a JSONL file with eval_run_id, problem_id, family and agentic")
	if err != nil {
		return err
	}
	attempts, err := d.read(ctx, days)
	if err != nil {
		return err
	}
	var labelled []filters.Labelled
	for i := range attempts {
		l, ok := labels[attempts[i].ID]
		if !ok || l.Agentic == nil {
			continue
		}
		s := &attempts[i].structure
		labelled = append(labelled, filters.Labelled{
			Family:     l.Family,
			Agentic:    *l.Agentic,
			Axis:       s.Axis,
			Confidence: s.Confidence,
		})
	}
	if len(labelled) == 0 {
		return cli.Failed(errors.New("no attempt of the day has a label"), "labels name attempts by eval_run_id and problem_id")
	}
	if left := len(labels) - len(labelled); left > 0 && !d.Noisy.Quiet {
		d.Streams.Linef("%d of %d labels left out: not of attempts of the day, or without agentic", left, len(labels))
	}
	c := filters.Calibrate(labelled)
	return printCalibration(w, &c)
}

func printCalibration(w io.Writer, c *filters.Calibration) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "family\tattempts\tagentic right\tcalled scripted\tscripted right\tcalled agentic\tunknown\tright\t95 %\t")
	for _, f := range append(c.Families, c.Total) {
		right := habits.Ratio{Part: f.Correct(), Whole: f.Attempts}
		lo, hi := right.Interval()
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.4f\t%.4f-%.4f\t\n", text.Line(f.Family), f.Attempts, f.Agentic[arena.AxisAgentic], f.Agentic[arena.AxisScripted], f.Scripted[arena.AxisScripted], f.Scripted[arena.AxisAgentic],
			f.Agentic[arena.AxisUnknown]+f.Scripted[arena.AxisUnknown], right.Share(), lo, hi)
	}
	agentic := c.Total.Agentic
	fmt.Fprintln(t, "\nmeasure\tshare\t95 %\t")
	share(
		t,
		"precision of agentic",
		agentic[arena.AxisAgentic],
		agentic[arena.AxisAgentic]+c.Total.Scripted[arena.AxisAgentic],
	)
	share(
		t,
		"recall of agentic",
		agentic[arena.AxisAgentic],
		agentic[arena.AxisAgentic]+agentic[arena.AxisScripted]+agentic[arena.AxisUnknown],
	)
	fmt.Fprintf(t, "Brier score\t%.4f\t\t\n", c.Brier)
	fmt.Fprintf(t, "expected calibration error\t%.4f\t\t\n", c.Error)

	fmt.Fprintln(t, "\nprobability of agentic\tattempts\tclaimed\ttrue\t95 %\t")
	for _, b := range c.Bins {
		printBin(t, fmt.Sprintf("%.2f-%.2f", b.Low, b.High), &b)
	}
	printBin(t, fmt.Sprintf("agentic, capped at %.2f", c.Capped.High), &c.Capped)
	printBin(t, "unknown", &c.Unknown)
	return t.Flush()
}

// printBin prints a row of the table that shows how reliable the filter's probabilities are. The
// row is for the attempts for which the filter gave a probability in the range b that the model
// made the calls. It has the name of the range, the number of attempts, their mean probability, and
// the share, with a 95 % interval, of those that are labelled so. An empty range is not printed.
func printBin(w io.Writer, name string, b *filters.Bin) {
	if b.N == 0 {
		return
	}
	agentic := habits.Ratio{Part: int(math.Round(b.True * float64(b.N))), Whole: b.N}
	lo, hi := agentic.Interval()
	fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f-%.3f\t\n", name, b.N, b.Claimed, b.True, lo, hi)
}

func share(w io.Writer, name string, part, total int) {
	t := habits.Ratio{Part: part, Whole: total}
	if total == 0 {
		fmt.Fprintf(w, "%s\t-\t\t\n", name)
		return
	}
	lo, hi := t.Interval()
	fmt.Fprintf(w, "%s\t%.4f\t%.4f-%.4f\t\n", name, t.Share(), lo, hi)
}
