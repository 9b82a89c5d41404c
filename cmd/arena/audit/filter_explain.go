package audit

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/report/attempt"
)

// explain prints one verdict step by step. The whole day is read, because the
// agent's habits are part of the verdict.
func (d *filterDay) explain(ctx context.Context, w io.Writer, days []string) error {
	d.each = func(_ context.Context, t *arena.Trace, f *filtered) error {
		if t.ID == d.flags.explain {
			f.story = attempt.StoryOf(d.filter, t, attempt.FromDay)
		}
		return nil
	}
	all, err := d.read(ctx, days)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].story != nil {
			var words strings.Builder
			if err = printExplanation(&words, &all[i], d.filter.DayTerms(&all[i].Sample, all[i].day)); err != nil {
				return err
			}
			_, err = io.WriteString(w, cli.WithoutSecrets(words.String()))
			return err
		}
	}
	return cli.Failed(fmt.Errorf("no attempt %q in %s", d.flags.explain, strings.Join(days, " ")), "an ID is RUN/PROBLEM, as in the lines of `arena filter`")
}

// printExplanation writes what `arena explain` says of the filter, and behind it what
// no corpus keeps: the habits of the agent's day, and checks that passed.
func printExplanation(w io.Writer, f *filtered, day []filters.Term) error {
	s := &f.structure
	of := &rows.Attempt{TraceID: f.ID, RecordSHA256: f.Record, AgentVersion: f.Agent}
	l := attempt.Alone(&where.Line{Attempt: of, Verdict: rows.VerdictOf(of, s)})
	a := l.Argue(0)
	a.Story = f.story
	if err := l.WriteVerdict(w, a); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if f.day.Known {
		fmt.Fprintf(t, "\nadaptivity of the agent's day %s\n", f.day.Adaptivity)
	}
	fmt.Fprintf(t, "\nthe agent's day: %d attempts\tshare\t95 %%\n", f.day.Attempts)
	for _, c := range habits.Counts() {
		h := c.In(f.day)
		lo, hi := h.Interval()
		fmt.Fprintf(t, "%s\t%d of %d\t%.2f-%.2f\n", c.Name, h.Part, h.Whole, lo, hi)
	}
	fmt.Fprintln(t, "\nlog-odds of the day\trule\twhy")
	for _, x := range day {
		fmt.Fprintf(t, "%+.2f\t%s\t%s\n", x.Odds, x.Rule, x.Why)
	}
	fmt.Fprintln(t, "\ncheck\tvalue\tlimit\tfires\treason")
	for _, v := range s.Verdicts {
		fires := ""
		if v.Decision == arena.Drop {
			fires = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", v.Check, measured(v.Value), measured(v.Limit), fires, v.Reason)
	}
	return t.Flush()
}

func measured(f float64) string {
	if math.IsNaN(f) {
		return "-"
	}
	return fmt.Sprintf("%.4g", f)
}
