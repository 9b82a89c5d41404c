package audit

import (
	"context"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/judges/outcome"
)

// reweight prints the leaderboard under base score and under the planned
// reweighting by richness. Every attempt counts, time-outs as failures, as in
// the subnet's own aggregate.
func (d *filterDay) reweight(ctx context.Context, w io.Writer, days []string) error {
	if err := d.outcomes(ctx, days); err != nil {
		return err
	}
	all, err := d.read(ctx, days)
	if err != nil {
		return err
	}
	scored := make([]filters.Scored, len(all))
	for i := range all {
		f := &all[i]
		scored[i] = filters.Scored{
			Agent: f.Agent, Problem: f.head.ProblemID, Success: f.success,
			Agentic: f.structure.Axis == arena.AxisAgentic, Adaptivity: f.structure.Adaptivity, Richness: filters.RichnessOf(&f.structure),
		}
	}
	b := filters.Reweight(scored)
	return printLeaderboard(w, &b)
}

// outcomes arranges that every attempt's success by the subnet's rules is known.
func (d *filterDay) outcomes(ctx context.Context, days []string) error {
	r := &scoreRun{Scan: d.Scan, flags: &scoreFlags{problems: d.flags.problems, catalogs: d.flags.catalogs}}
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
		fmt.Fprintf(t, "%d\t%s\t%d\t%.2f\t%s\t%.4f\t", s.BaseRank, text.Line(s.Agent), s.Attempts, s.Agentic, adaptivity(s.Adaptivity), s.Base)
		for k := range s.Scores {
			fmt.Fprintf(t, "%.4f\t%d (%+d)\t", s.Scores[k], s.Ranks[k], s.BaseRank-s.Ranks[k])
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t, "\nshare of all reward, in points\tv1\t95 %\tv2\t95 %\targs\t95 %\t")
	for _, s := range b.Standings {
		fmt.Fprintf(t, "%s\t", text.Line(s.Agent))
		for k := range s.Gain {
			fmt.Fprintf(t, "%s\t%s to %s\t", points(s.Gain[k]), points(s.Low[k]), points(s.High[k]))
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintf(t, "\nreward to agentic attempts: base %.4f", b.BaseShare)
	for k, name := range filters.RichnessNames {
		fmt.Fprintf(t, ", %s %.4f", name, b.Shares[k])
	}
	fmt.Fprintln(t, "\nrichness that the log cannot answer counts as 0; intervals: problems as clusters")
	return t.Flush()
}

func adaptivity(of *float64) string {
	if of == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *of)
}

func points(share float64) string {
	p := 100 * share
	if math.Abs(p) < 0.005 {
		p = 0
	}
	return fmt.Sprintf("%+.2f", p)
}
