package comparison

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/internal/text"
)

// WriteSeries writes the runs of comparisons as a table, for people.
func WriteSeries(w io.Writer, comparisons []Comparison) error {
	rows := series(comparisons)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	rates := slicesx.FilterMap(slicesx.SortedKeys(rows[0].Summary.Pass), func(name string) (string, bool) {
		return name, strings.HasPrefix(name, "pass@")
	})
	fmt.Fprintln(t, strings.Join(slices.Concat([]string{"run", "rate", "95 %", "coverage"}, rates,
		[]string{"partial", "hallucinated ids a reply", "tokens a rollout", "time", "cost"}), "\t"))
	for _, r := range rows {
		s := &r.Summary
		fmt.Fprintln(t, strings.Join(slices.Concat([]string{
			r.Name,
			share(s.ASRScored),
			between(s.Clustered95),
			fmt.Sprintf("%.4f", s.Coverage),
		}, r.passes(rates),
			[]string{
				r.ownCount(fmt.Sprint(s.Partial)),
				r.ownCount(share(stats.FiniteOrNil(float64(s.HallucinatedIDs) / float64(s.Turns)))),
				r.tokens(),
				r.time(),
				r.cost(),
			}), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return writeBest(w, rows)
}

// writeBest writes which of three or more runs has the highest rate. Its interval takes into
// account that this run was selected for its result. It writes nothing for fewer runs, if a rate or
// its error is unknown, or if the best rate is not from 0 to 1.
func writeBest(w io.Writer, rows []*Run) error {
	best := rows[0]
	for _, r := range rows {
		if r.Summary.ASRScored == nil || r.Summary.SEScored == nil {
			return nil
		}
		if *r.Summary.ASRScored > *best.Summary.ASRScored {
			best = r
		}
	}
	isShare := *best.Summary.ASRScored >= 0 && *best.Summary.ASRScored <= 1
	if len(rows) < 3 || !isShare {
		return nil
	}
	s := &best.Summary
	i := stats.SelectedWilson(*s.ASRScored, *s.SEScored, cmp.Or(s.Groups, s.Problems), s.Scored, len(rows))
	_, err := fmt.Fprintf(w, "best of %d: %s, %.4f (95 %% with the selection: %.4f to %.4f)\n", len(rows), best.Name, *s.ASRScored, i.Low, i.High)
	return err
}

// Curve returns the rates of a series of runs as a curve for people: a line for each run, with its
// interval on an axis from 0 to 1.
func Curve(comparisons []Comparison) string {
	const width = 50
	var b strings.Builder
	for i, r := range series(comparisons) {
		s := &r.Summary
		if s.ASRScored == nil {
			continue
		}
		axis := []byte(strings.Repeat(" ", width+1))
		place := func(rate float64) int { // the ends of the axis stand for what is beyond them
			return int(min(max(rate, 0), 1) * width)
		}
		if s.Clustered95 != nil {
			for x := place(s.Clustered95[0]); x <= place(s.Clustered95[1]); x++ {
				axis[x] = '-'
			}
		}
		axis[place(*s.ASRScored)] = 'o'
		fmt.Fprintf(&b, "%3d |%s| %.4f %s\n", i+1, axis, *s.ASRScored, r.Name)
	}
	return b.String() + "\n"
}

// series returns the distinct runs of comparisons, in the order in which they first occur.
func series(comparisons []Comparison) (runs []*Run) {
	for _, c := range comparisons {
		for _, r := range []*Run{c.ARun, c.BRun} {
			if !slices.Contains(runs, r) {
				runs = append(runs, r)
			}
		}
	}
	return runs
}

func (r *Run) passes(names []string) (cells []string) {
	for _, name := range names {
		p, ok := r.Summary.Pass[name]
		cell := "-"
		if ok {
			cell = fmt.Sprintf("%.4f", p.Mean)
		}
		cells = append(cells, cell)
	}
	return cells
}

// ownCount returns count. For a run that was imported from another harness, which does not record
// the count, it returns "unknown".
func (r *Run) ownCount(count string) string {
	if r.spec.Source != "" {
		return unknown
	}
	return count
}

func (r *Run) time() string {
	if r.Seconds == 0 {
		return unknown
	}
	return fmt.Sprintf("%.0f s", r.Seconds)
}

func (r *Run) tokens() string {
	t := r.Summary.Tokens
	n := int64(r.Summary.Samples)
	if t.Prompt == nil || t.Completion == nil {
		return unknown
	}
	return fmt.Sprintf("%d + %d", *t.Prompt/n, *t.Completion/n)
}

func (r *Run) cost() string {
	var words []string
	for _, usd := range []*float64{r.Cost.TokenUSD, r.Cost.GPUUSD} {
		if usd != nil {
			words = append(words, fmt.Sprintf("%.4f USD", *usd))
		}
	}
	if s := r.Cost.GPUSeconds; len(words) == 0 && s != nil {
		words = []string{fmt.Sprintf("%.0f GPU s", *s)}
	}
	return cmp.Or(strings.Join(words, " + "), unknown)
}

const unknown = "unknown"

func share(x *float64) string { return text.Optional(x, "%.4f", unknown) }

func between(x *[2]float64) string {
	if x == nil {
		return unknown
	}
	return fmt.Sprintf("%.4f to %.4f", x[0], x[1])
}

// String returns the comparison for people.
func (c Comparison) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s against %s: %s\n", c.B, c.A, c.Part)
	fmt.Fprintf(
		&b,
		"  means by problem, of scored rollouts: %s %.4f (coverage %.4f), %s %.4f (coverage %.4f)\n",
		c.A,
		c.AMean,
		c.ACoverage,
		c.B,
		c.BMean,
		c.BCoverage,
	)
	if c.McNemar != nil {
		fmt.Fprintf(
			&b,
			"  McNemar: only %s %d, only %s %d, p %.4g\n",
			c.A,
			c.McNemar.B,
			c.B,
			c.McNemar.C,
			c.McNemar.P,
		)
	} else {
		fmt.Fprintf(
			&b,
			"  %s solves %d problems more often, %d less often\n",
			c.B,
			len(c.Won),
			len(c.Lost),
		)
	}
	c.writeShown(&b)
	c.writeParts(&b, "", c.PassAt)
	c.writeParts(&b, "category ", c.ByCategory)
	c.writeParts(&b, "", c.ByContamination)
	for _, d := range c.Differs {
		fmt.Fprintf(&b, "  differs: %s\n", d)
	}
	return b.String()
}

func (c Comparison) writeShown(b *strings.Builder) {
	if c.MDE80 != nil {
		fmt.Fprintf(b, "  this test shows a true difference of %.4f four times in five", *c.MDE80)
		for _, p := range c.Power {
			fmt.Fprintf(b, ", of %.2f in %.0f %%", p.Difference, 100*p.Power)
		}
		b.WriteByte('\n')
	}
	if e := c.Equivalence; e != nil {
		verdict := "not shown to be equal"
		if e.Shown {
			verdict = "equal"
		}
		fmt.Fprintf(b, "  %s within %.4f (two one-sided tests, p %s)\n", verdict, e.Margin, share(e.P))
	}
}

func (c Comparison) writeParts(
	b *strings.Builder,
	kind string,
	parts map[string]*Part,
) {
	for _, name := range slicesx.SortedKeys(parts) {
		p := parts[name]
		fmt.Fprintf(
			b,
			"  %s%s: %s %.4f, %s %.4f; %s\n",
			kind,
			name,
			c.A,
			p.AMean,
			c.B,
			p.BMean,
			p,
		)
	}
}

// String returns the difference with its uncertainty.
func (p Part) String() string {
	if p.Differing == 0 {
		return fmt.Sprintf("no problem of %d differs", p.Problems)
	}
	s := fmt.Sprintf("difference %+.4f on %d problems", p.Difference, p.Problems)
	if p.Groups > 0 {
		s += fmt.Sprintf(" in %d groups", p.Groups)
	}
	if p.CI95 != nil {
		s += fmt.Sprintf(" (95 %%: %+.4f to %+.4f)", p.CI95[0], p.CI95[1])
	}
	return s + fmt.Sprintf(", p %.4g (Holm %.4g)", p.P, p.HolmP)
}
