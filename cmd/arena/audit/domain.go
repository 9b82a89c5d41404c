package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/pipeline/survey"
	"github.com/trajectory-arena/arena/traces"
)

// NewDomain returns `arena domain`.
func NewDomain(s *cli.Streams) *cobra.Command {
	return cli.Family("domain init|check", "Describe what your agents do, and measure what works on their attempts",
		newDomainInit(s), newDomainCheck(s))
}

type domainFlags struct {
	cli.DayFlags
	name     string
	labels   string
	programs []string
}

func newDomainInit(s *cli.Streams) *cobra.Command {
	f := domainFlags{}
	c := cli.Command("init TRACES… -o DOMAIN.yaml", "Propose a domain from traces: tools, rewards and errors that were seen", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, days []string) error {
			return f.propose(c.Context(), s, days)
		})
	cli.Out(c, &f.Out)
	f.Reading.Register(c)
	cli.ReadsDays(c)
	c.Flags().StringVar(&f.name, "name", "own", "name of the domain")
	f.Noisy.Flags(c)
	return c
}

func (f *domainFlags) propose(ctx context.Context, s *cli.Streams, days []string) error {
	if !domain.IsName(f.name) {
		return cli.Usage(fmt.Errorf("--name is %q", f.name), "give lower-case letters, digits, - and _")
	}
	counts := survey.New()
	scan, _, err := f.scan(ctx, s, days, func(_ context.Context, t *arena.Trace) error {
		dialogue := filters.Normalise(t)
		counts.Add(t, &dialogue)
		return nil
	})
	if err != nil {
		return err
	}
	if err = scan.Report(counts.Attempts(), ""); err != nil {
		return err
	}
	proposal := counts.Propose(f.name)
	if file, err := os.ReadFile(f.Out); err == nil && !bytes.Equal(file, proposal) {
		return cli.Usage(fmt.Errorf("propose a domain: %s is there and says other things", f.Out),
			"somebody may have corrected it, and `arena domain check` measured it: give another -o, or move it away")
	}
	if warning := counts.Warning(); warning != "" {
		s.Notef("warning: %s\n", warning)
	}
	return scan.Write(func(w io.Writer) error {
		_, err := w.Write(proposal)
		return err
	})
}

// scan calls visit for every attempt in the days (folders of traces), one after the other. It
// returns the finished scan and a SHA-256 over the hashes of the input files, which identifies
// them.
func (f *domainFlags) scan(
	ctx context.Context,
	s *cli.Streams,
	days []string,
	visit func(context.Context, *arena.Trace) error,
) (scan *cli.Scan, sum string, err error) {
	f.Workers = 1
	scan = &cli.Scan{
		DayFlags: &f.DayFlags,
		Name:     "domain",
		Streams:  s,
		Limits:   traces.DefaultLimits(),
	}
	inputs, err := s.DayInputs(ctx, days)
	if err != nil {
		return nil, "", err
	}
	var sums []string
	for i := range inputs {
		if err = inputs[i].Hash(ctx); err != nil {
			return nil, "", err
		}
		sums = append(sums, inputs[i].SHA256)
	}
	_, err = cli.ScanAttempts(ctx, scan, inputs, func(ctx context.Context, t *arena.Trace) (struct{}, error) {
		return struct{}{}, visit(ctx, t)
	})
	return scan, digest.SHA256([]byte(strings.Join(sums, "\n"))), err
}

func newDomainCheck(s *cli.Streams) *cobra.Command {
	f := domainFlags{}
	c := cli.Command("check DOMAIN.yaml TRACES… [--labels L] [--programs NAMES]", "Measure each instrument on traces, and write the figures into the domain's file", cli.NumArgs(2, cli.AnyNumber),
		func(c *cobra.Command, args []string) error {
			return f.check(c.Context(), s, args[0], args[1:])
		})
	f.Reading.Register(c)
	cli.File(c, &f.labels, "labels", "grades of attempts, as arena label score writes them, or of steps, by people: the judges are measured by them, and not by the outcomes")
	c.Flags().StringSliceVar(&f.programs, "programs", nil, "names of the agents that are programs, or patterns such as made-*, separated by a comma: adaptivity is measured between them and all others")
	f.Noisy.Flags(c)
	cli.ReadsDays(c)
	return c
}

func (f *domainFlags) check(ctx context.Context, s *cli.Streams, file string, days []string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return cli.Usage(fmt.Errorf("read domain: %w", err), "`arena domain init TRACES -o DOMAIN.yaml` proposes one")
	}
	d, err := domain.Parse(text)
	if err == nil {
		err = guard.CheckLexicon(&d.Lexicon)
	}
	if err != nil {
		return cli.Usage(fmt.Errorf("read domain %s: %w", file, err), "docs/domains.md lists the keys")
	}
	c, err := f.newCheck(d)
	if err != nil {
		return err
	}
	scan, sum, err := f.scan(ctx, s, days, func(ctx context.Context, t *arena.Trace) error {
		dialogue := filters.Normalise(t)
		return c.Add(ctx, t, &dialogue)
	})
	if err != nil {
		return err
	}
	if err = scan.Unread.Tally.CheckShare(f.Reading.MaxUnreadable); err != nil {
		return err
	}
	results, err := c.Results("traces "+sum[:12], time.Now().UTC().Format(time.DateOnly))
	if err != nil {
		return err
	}
	measured := survey.Write(text, results)
	checked, err := domain.Parse(measured)
	if err != nil {
		return errors.Join(errors.New("the figures do not fit into the file"), err)
	}
	printResults(s.Out, checked, results)
	return cli.WriteWhole(s, file, func(w io.Writer) error {
		_, err := w.Write(measured)
		return err
	})
}

// newCheck returns a check of the offline judges on a domain.
func (f *domainFlags) newCheck(d *domain.Domain) (*survey.Check, error) {
	c := &survey.Check{Domain: d, Programs: f.programs}
	gates, _ := judges.ByFlag("gates")
	steps, _ := judges.StepsByFlag("steps")
	var err error
	if c.Judge, c.JudgeIs, err = gates.Open(nil); err != nil {
		return nil, err
	}
	if c.Steps, c.StepsAre, err = steps.OpenSteps(nil); err != nil {
		return nil, err
	}
	c.Steps, c.StepsAre.Name = judges.StepsIn(d, c.Steps, c.StepsAre.Name)
	if f.labels != "" {
		labels, err := readRatings(f.labels, "labels")
		if err != nil {
			return nil, err
		}
		c.Labels = &labels
	}
	return c, nil
}

// printResults prints a row for each instrument (filter, judge or guard): how well it did on the
// attempts of the domain d, or why that was not measured, and whether it is on or off in d.
func printResults(w io.Writer, d *domain.Domain, results []survey.Result) {
	for _, r := range results {
		if r.Measurement == nil {
			fmt.Fprintf(w, "%s\toff\tnot measured: %s\n", r.Instrument, r.Why)
			continue
		}
		state := "off"
		if d.On(r.Instrument, r.Measurement.Version) {
			state = "on"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Instrument, state, r.Measurement)
	}
}
