package audit

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/text"
)

// explain prints one verdict step by step. The whole day is read, because the
// agent's habits are part of the verdict.
func (d *filterDay) explain(ctx context.Context, w io.Writer, days []string) error {
	d.each = func(_ context.Context, t *arena.Trace, f *filtered) error {
		if t.ID == d.flags.explain {
			dialogue := filters.Normalise(t)
			f.explanation = new(d.filter.Explain(t, &dialogue))
		}
		return nil
	}
	all, err := d.read(ctx, days)
	if err != nil {
		return err
	}
	for i := range all {
		if e := all[i].explanation; e != nil {
			var words strings.Builder
			if err = printExplanation(&words, &all[i], e, d.filter.DayTerms(&all[i].Sample, all[i].day)); err != nil {
				return err
			}
			_, err = io.WriteString(w, cli.WithoutSecrets(words.String()))
			return err
		}
	}
	return cli.Failed(fmt.Errorf("no attempt %q in %s", d.flags.explain, strings.Join(days, " ")), "an ID is RUN/PROBLEM, as in the lines of `arena filter`")
}

func printExplanation(w io.Writer, f *filtered, e *filters.Explanation, terms []filters.Term) error {
	s := &f.structure
	fmt.Fprintf(w, "%s  agent %s\n", f.ID, f.Agent)
	fmt.Fprintf(w, "axis %s, confidence %.2f, keep %v", s.Axis, s.Confidence, s.Keep)
	if len(s.Reasons) > 0 {
		fmt.Fprintf(w, " because of %s", strings.Join(s.Reasons, ", "))
	}
	fmt.Fprint(w, "\n")
	if a := f.day.Adaptivity; f.day.Known {
		fmt.Fprintf(w, "adaptivity of the agent's day %s\n", a)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "step\tsaid\tcall\tdispatched\treply\tlink")
	for _, r := range e.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", number(r.Step), text.Line(r.Said), text.Line(r.Call), text.Line(r.Dispatched), number(r.NamedBy), r.Link)
	}
	fmt.Fprintf(t, "\nthe agent's day: %d attempts\tshare\t95 %%\n", f.day.Attempts)
	for _, c := range habits.Counts() {
		h := c.In(f.day)
		lo, hi := h.Interval()
		fmt.Fprintf(t, "%s\t%d of %d\t%.2f-%.2f\n", c.Name, h.Part, h.Whole, lo, hi)
	}
	fmt.Fprintln(t, "\nlog-odds\trule\twhy")
	for _, x := range slices.Concat(e.Terms, terms) {
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

// number prints a count, nothing where there is none.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func measured(f float64) string {
	if math.IsNaN(f) {
		return "-"
	}
	return fmt.Sprintf("%.4g", f)
}
