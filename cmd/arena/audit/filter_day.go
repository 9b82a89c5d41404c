package audit

import (
	"context"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/report/attempt"
	"github.com/trajectory-arena/arena/traces"
)

type filterDay struct {
	cli.Scan
	flags   *filterFlags
	filter  *filters.Filter
	domains *domain.Set
	// inputs are the files of the days, nil if they were not opened yet.
	inputs []traces.Input
	// each, if not nil, is called with every trace while it is in memory and may add to what is
	// stored of it. Calls for different inputs run in parallel.
	each func(ctx context.Context, t *arena.Trace, f *filtered) error
}

// domainUsage is the help of the flag --domain.
const domainUsage = "domain of all attempts: a name of arena list domains, or a file (default: recognised for each attempt)"

// filterFor returns the filter for an attempt by its domain, made from base.
func filterFor(
	base *filters.Filter,
	domains *domain.Set,
	t *arena.Trace,
	dialogue *arena.Dialogue,
) *filters.Filter {
	d := domains.Recognise(t, dialogue, domain.Base)
	return base.For(d, t.Source.HasProxyLog, d.On(domain.Adaptivity, d.Adaptivity))
}

// filtered is what is stored of one attempt (one agent run at one problem) after the filter's first
// pass, until all attempts of the same agent have been read. head has only the ids and the agent of
// the trace, and whether it has a dialogue. day counts what the agent did in all its attempts.
type filtered struct {
	filters.Checked
	filter    *filters.Filter
	head      arena.Trace
	structure arena.Structure
	day       *habits.Agent
	// success is the outcome of the attempt, set for --reweight only.
	success bool
	// story is set for the attempt that --explain names, and for its copies.
	story *attempt.Story
}

// read reads and filters all attempts in the days (folders of traces) and returns them in input
// order. The first pass of the filter decides on each attempt by itself, the second also by what
// the same agent did in its other attempts.
func (d *filterDay) read(ctx context.Context, days []string) ([]filtered, error) {
	if d.inputs == nil {
		var err error
		if d.inputs, err = d.Streams.DayInputs(ctx, days); err != nil {
			return nil, err
		}
	}
	attempts, err := cli.ScanAttempts(ctx, &d.Scan, d.inputs, func(ctx context.Context, t *arena.Trace) (f filtered, err error) {
		f = d.check(t)
		if d.each != nil {
			err = d.each(ctx, t, &f)
		}
		return f, err
	})
	if err == nil {
		d.secondPass(attempts)
	}
	return attempts, err
}

func (d *filterDay) check(t *arena.Trace) filtered {
	dialogue := filters.Normalise(t)
	f := filtered{Checked: filters.Checked{
		ID:     t.ID,
		Record: t.RecordSHA256,
		Agent:  filters.AgentOf(t.Agent, t.RunID),
	}}
	f.filter = filterFor(d.filter, d.domains, t, &dialogue)
	f.structure, f.Sample = f.filter.Check(t, &dialogue)
	f.head = arena.Trace{
		ID:          t.ID,
		RunID:       t.RunID,
		ProblemID:   t.ProblemID,
		Agent:       t.Agent,
		HasDialogue: t.HasDialogue,
	}
	return f
}

// secondPass updates the filter's decision on each attempt by what its agent did in all attempts,
// such as how often it repeats the same calls.
func (d *filterDay) secondPass(attempts []filtered) {
	checked := make([]*filters.Checked, len(attempts))
	for i := range attempts {
		checked[i] = &attempts[i].Checked
	}
	habits := d.filter.Day(checked)
	for i := range attempts {
		f := &attempts[i]
		f.day = habits.Agents[f.Agent]
		f.structure = f.filter.Revise(
			f.structure,
			f.day.Odds(&f.Sample),
			f.day,
		)
	}
}

func (d *filterDay) lines(
	ctx context.Context,
	w io.Writer,
	days []string,
) error {
	attempts, err := d.read(ctx, days)
	if err != nil {
		return err
	}
	if err := d.summary(attempts); err != nil {
		return err
	}
	var line []byte
	for i := range attempts {
		line = filters.AppendLine(
			line[:0],
			cli.NamesOf(&attempts[i].head),
			attempts[i].structure,
		)
		if _, err := w.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write verdicts: %w", err)
		}
	}
	return nil
}

func (d *filterDay) summary(attempts []filtered) error {
	agentic := 0
	axes := map[arena.Axis]int{}
	for i := range attempts {
		axes[attempts[i].structure.Axis]++
		if attempts[i].structure.Keep {
			agentic++
		}
	}
	return d.Report(len(attempts), "%d attempts: %d agentic, %d scripted, %d unknown; %d kept\n",
		len(attempts), axes[arena.AxisAgentic], axes[arena.AxisScripted], axes[arena.AxisUnknown], agentic)
}

// reweight prints the leaderboard of agents by four scores: success alone, by which the subnet pays
// today, and success times each of three measures of how rich the attempt is. Every attempt counts,
// time-outs as failures, as in the success rates that the subnet publishes. With --yuma it also
// prints what agents would be paid by each score.
func (d *filterDay) reweight(
	ctx context.Context,
	w io.Writer,
	days []string,
) error {
	if err := d.outcomes(ctx, days); err != nil {
		return err
	}
	attempts, err := d.read(ctx, days)
	if err != nil {
		return err
	}
	scored := make([]filters.Scored, len(attempts))
	for i := range attempts {
		f := &attempts[i]
		scored[i] = filters.Scored{
			Agent: f.Agent, Problem: f.head.ProblemID, Success: f.success,
			Agentic: f.structure.Axis == arena.AxisAgentic, Adaptivity: f.structure.Adaptivity, Richness: filters.RichnessOf(&f.structure),
		}
	}
	b := filters.Reweight(scored)
	if err = printLeaderboard(w, &b); err != nil {
		return err
	}
	return d.flags.pay(w, &b)
}

// outcomes opens the files of problems and catalogues that belong to the days (folders of traces).
// It changes d so that its method read also decides for every attempt whether it succeeded.
func (d *filterDay) outcomes(ctx context.Context, days []string) error {
	r := &scoreRun{
		Scan: d.Scan,
		flags: &scoreFlags{
			problems: d.flags.problems,
			catalogs: d.flags.catalogs,
		},
	}
	if err := r.open(ctx, days, outcome.Carried{}); err != nil {
		return err
	}
	d.inputs = r.day.Inputs
	d.Streams.AtEnd(func() { r.day.Close() }) //nolint:errcheck // only read
	d.each = func(ctx context.Context, t *arena.Trace, f *filtered) error {
		o, err := r.score(ctx, t)
		f.success = o.Success
		return err
	}
	return nil
}

func printLeaderboard(w io.Writer, b *filters.Leaderboard) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "rank\tagent\tattempts\tagentic\tadaptivity\tbase\tv1\trank\tv2\trank\targs\trank\t")
	for _, s := range b.Standings {
		fmt.Fprintf(
			t,
			"%d\t%s\t%d\t%.2f\t%s\t%.4f\t",
			s.Ranks[0],
			text.Line(s.Agent),
			s.Attempts,
			s.Agentic,
			text.Optional(s.Adaptivity, "%.2f", "-"),
			s.Scores[0],
		)
		for k, score := range s.Scores[1:] {
			fmt.Fprintf(
				t,
				"%.4f\t%d (%+d)\t",
				score,
				s.Ranks[k+1],
				s.Ranks[0]-s.Ranks[k+1],
			)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t, "\nshare of all reward, in points\tv1\t95 %\tv2\t95 %\targs\t95 %\t")
	for _, s := range b.Standings {
		fmt.Fprintf(t, "%s\t", text.Line(s.Agent))
		for k := 1; k < len(s.Gain); k++ {
			fmt.Fprintf(
				t,
				"%s\t%s to %s\t",
				points(s.Gain[k]),
				points(s.Low[k]),
				points(s.High[k]),
			)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintf(t, "\nreward to agentic attempts, over %s: ", cli.Counted(b.Problems, "problem", "problems"))
	after := ""
	for k, name := range filters.Measures {
		ci := b.AgenticInterval[k]
		fmt.Fprintf(t, "%s%s %.4f (%.2f to %.2f)", after, name, b.AgenticShare[k], max(0, ci.Low), min(1, ci.High))
		after = ", "
	}
	fmt.Fprintln(t, "\nrichness that the log cannot answer counts as 0; intervals: problems as clusters")
	return t.Flush()
}

func points(share float64) string {
	p := 100 * share
	if math.Abs(p) < 0.005 {
		p = 0
	}
	return fmt.Sprintf("%+.2f", p)
}
