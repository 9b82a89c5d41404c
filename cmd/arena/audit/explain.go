package audit

import (
	"context"
	"errors"
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
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/judges/gates"
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
			if err = printExplanation(&words, &all[i], filters.DayTerms(all[i].day.Odds(&all[i].Sample), all[i].day)); err != nil {
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

// label is what somebody else said of an attempt: a label with its evidence, or
// another judge's line.
type label struct {
	Score    *float64 `json:"score"`
	Gates    []bool   `json:"gates"`
	Evidence struct {
		Step       int
		Quote, Why string
	} `json:"evidence"`
	Detail string `json:"detail"`
}

var errFound = errors.New("found")

func (d *judgeDay) explain(ctx context.Context, days []string) error {
	var words strings.Builder
	err := d.attempts(ctx, days, func(t *arena.Trace) error {
		if t.ID != d.flags.explain {
			return nil
		}
		if err := d.walk(ctx, &words, t); err != nil {
			return err
		}
		return errFound
	})
	switch {
	case err == nil:
		return cli.Failed(fmt.Errorf("no attempt %q in %s", d.flags.explain, strings.Join(days, " ")), "an ID is RUN/PROBLEM: eval_run_id and problem_id of a line of `arena judge`")
	case !errors.Is(err, errFound):
		return err
	}
	return cli.WriteText(d.Streams, d.Out, cli.WithoutSecrets(words.String()))
}

func (d *judgeDay) walk(ctx context.Context, w io.Writer, t *arena.Trace) error {
	dialogue := filters.Normalise(t)
	j, err := d.Judge.Judge(ctx, t, &dialogue)
	if err != nil {
		return err
	}
	filter, err := filters.New(filters.Defaults())
	if err != nil {
		return err
	}
	of := &rows.Attempt{TraceID: t.ID, RecordSHA256: t.RecordSHA256, AgentVersion: t.Agent.VersionID}
	l := attempt.Alone(&where.Line{Attempt: of, Judgement: rows.JudgementOf(of, &j, nil)})
	a := l.Argue(0)
	a.Story = attempt.StoryOf(filter, t, attempt.FromDay)
	if err = l.WriteGrade(w, a); err != nil || d.flags.labels == "" {
		return err
	}
	labels, err := cli.ReadByAttempt[label](d.flags.labels, "a line is {eval_run_id, problem_id, score}")
	if err != nil {
		return err
	}
	beside, known := labels[t.RunID+"/"+t.ProblemID]
	if !known {
		return cli.Failed(errors.New("the labels do not have the attempt"), "leave --labels out, or name those of this day")
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	printLabel(table, &j, &beside)
	return table.Flush()
}

func printLabel(w io.Writer, j *arena.Judgement, l *label) {
	score := "unscored"
	if l.Score != nil {
		score = fmt.Sprint(*l.Score)
	}
	fmt.Fprintf(w, "\nlabel\t%s\t\t%s\n", score, text.Line(l.Detail))
	if l.Evidence.Quote != "" || l.Evidence.Why != "" {
		fmt.Fprintf(w, "\tits evidence\t\tstep %d: [%s] %s\n", l.Evidence.Step, text.Line(l.Evidence.Quote), text.Line(l.Evidence.Why))
	}
	for i, name := range gates.Names {
		if i < len(l.Gates) && i < len(j.Gates) && l.Gates[i] != j.Gates[i] {
			fmt.Fprintf(w, "differs\tgate %d, %s\t\tthe label says %s\n", i+1, name, map[bool]string{true: "passed", false: "failed"}[l.Gates[i]])
			return
		}
	}
	fmt.Fprintln(w, "differs\tnowhere")
}
