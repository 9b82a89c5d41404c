package audit

import (
	"cmp"
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
	"github.com/trajectory-arena/arena/judges/shop/gates"
	"github.com/trajectory-arena/arena/report/attempt"
)

// explain prints step by step how the filter decided whether a model or a program made the calls of
// the attempt that --explain names. It reads all attempts in the days (folders of traces), since
// the decision also depends on what the same agent did in its other attempts.
func (d *filterDay) explain(
	ctx context.Context,
	w io.Writer,
	days []string,
) error {
	d.each = func(_ context.Context, t *arena.Trace, f *filtered) error {
		if t.ID == d.flags.explain {
			f.story = attempt.StoryOf(f.filter, t, attempt.FromDay)
		}
		return nil
	}
	attempts, err := d.read(ctx, days)
	if err != nil {
		return err
	}
	for i := range attempts {
		if attempts[i].story != nil {
			_, err = io.WriteString(w, cli.WithoutSecrets(explainFilter(&attempts[i])))
			return err
		}
	}
	return cli.Failed(
		fmt.Errorf("no attempt %q in %s", d.flags.explain, strings.Join(days, " ")),
		"an ID is RUN/PROBLEM, as in the lines of `arena filter`",
	)
}

// explainFilter returns a text that explains the filter's decision on one attempt. Unlike the
// explanation of an attempt in a corpus, it includes the checks that the attempt passed and how
// often the agent repeats itself across its attempts of that day, which no corpus stores.
func explainFilter(f *filtered) string {
	s := &f.structure
	row := &rows.Attempt{
		TraceID:      f.ID,
		RecordSHA256: f.Record,
		AgentVersion: f.Agent,
	}
	l := attempt.Alone(&where.Line{
		Attempt: row,
		Verdict: rows.NewVerdict(row, s),
	})
	a := l.Argue(0)
	a.Story = f.story
	var words strings.Builder
	words.WriteString(l.Verdict(a))
	t := tabwriter.NewWriter(&words, 0, 0, 2, ' ', 0)
	if f.day.Known {
		fmt.Fprintf(t, "\nadaptivity of the agent's day %s\n", f.day.Adaptivity)
	}
	fmt.Fprintf(t, "\nthe agent's day: %d attempts\tshare\t95 %%\n", f.day.Attempts)
	for _, c := range habits.Counts() {
		h := c.Total(f.day)
		lo, hi := h.Interval()
		fmt.Fprintf(t, "%s\t%d of %d\t%.2f-%.2f\n", c.Name, h.Part, h.Whole, lo, hi)
	}
	fmt.Fprintln(t, "\nlog-odds of the day\trule\twhy")
	for _, x := range filters.DayTerms(f.day.Odds(&f.Sample), f.day) {
		fmt.Fprintf(t, "%+.2f\t%s\t%s\n", x.Odds, x.Rule, x.Why)
	}
	fmt.Fprintln(t, "\ncheck\tvalue\tlimit\tfires\treason")
	for _, v := range s.Verdicts {
		fires := ""
		if v.Decision == arena.Drop {
			fires = "yes"
		}
		fmt.Fprintf(
			t,
			"%s\t%s\t%s\t%s\t%s\n",
			v.Check,
			measured(v.Value),
			measured(v.Limit),
			fires,
			v.Reason,
		)
	}
	_ = t.Flush() // a Builder takes all
	return words.String()
}

func measured(f float64) string {
	if math.IsNaN(f) {
		return "-"
	}
	return fmt.Sprintf("%.4g", f)
}

// label is a second opinion on an attempt (one agent run at one problem): a person's label with its
// evidence, or the output line of another judge.
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

// explain writes how one grade came about. It reads the days once, since standard input and pipes
// cannot be read again, and no further than the attempt.
func (d *judgeDay) explain(ctx context.Context, days []string) error {
	var found *arena.Trace
	var judgement arena.Judgement
	err := d.attempts(ctx, days, func(t *arena.Trace) (err error) {
		if t.ID != d.flags.explain {
			return nil
		}
		found = t
		dialogue := filters.Normalise(t)
		thinking := filters.MeasureThinking(t, &dialogue)
		judgement, err = d.judgeAttempt(ctx, t, &dialogue, &thinking)
		return cmp.Or(err, errFound)
	})
	switch {
	case err != nil && !errors.Is(err, errFound):
		return err
	case found == nil:
		return cli.Failed(
			fmt.Errorf("no attempt %q in %s", d.flags.explain, strings.Join(days, " ")),
			"an ID is RUN/PROBLEM: eval_run_id and problem_id of a line of `arena judge`",
		)
	}
	words, err := d.walk(found, &judgement)
	if err != nil {
		return err
	}
	return cli.WriteText(d.Streams, d.Out, cli.WithoutSecrets(words))
}

func (d *judgeDay) walk(t *arena.Trace, j *arena.Judgement) (string, error) {
	dialogue := filters.Normalise(t)
	filter, err := filters.New(filters.Defaults())
	if err != nil {
		return "", err
	}
	row := &rows.Attempt{
		TraceID:      t.ID,
		RecordSHA256: t.RecordSHA256,
		AgentVersion: t.Agent.VersionID,
	}
	l := attempt.Alone(&where.Line{
		Attempt:   row,
		Judgement: rows.NewJudgement(row, j, nil),
	})
	a := l.Argue(0)
	a.Story = attempt.StoryOf(filterFor(filter, d.domains, t, &dialogue), t, attempt.FromDay)
	if d.flags.labels == "" {
		return l.Grade(a), nil
	}
	labels, err := cli.ReadByAttempt[label](d.flags.labels, "a line is {eval_run_id, problem_id, score}")
	if err != nil {
		return "", err
	}
	beside, known := labels[t.RunID+"/"+t.ProblemID]
	if !known {
		return "", cli.Failed(errors.New("the labels do not have the attempt"), "leave --labels out, or name those of this day")
	}
	return l.Grade(a) + differences(j, &beside), nil
}

// differences returns lines of text that describe a label of an attempt and say where the judgement
// differs from it.
func differences(j *arena.Judgement, l *label) string {
	var words strings.Builder
	w := tabwriter.NewWriter(&words, 0, 0, 2, ' ', 0)
	fmt.Fprintf(
		w,
		"\nlabel\t%s\t\t%s\n",
		text.Optional(l.Score, "%v", "unscored"),
		text.Line(l.Detail),
	)
	if l.Evidence.Quote != "" || l.Evidence.Why != "" {
		fmt.Fprintf(
			w,
			"\tits evidence\t\tstep %d: [%s] %s\n",
			l.Evidence.Step,
			text.Line(l.Evidence.Quote),
			text.Line(l.Evidence.Why),
		)
	}
	fmt.Fprintf(w, "differs\t%s\n", difference(j, l))
	_ = w.Flush() // a Builder takes all
	return words.String()
}

// difference returns the name of the first gate (one of the judge's pass or fail checks) on which a
// label and the judgement differ, else the grade if they differ in it. What one of them lacks is
// unknown.
func difference(j *arena.Judgement, l *label) string {
	both := min(len(gates.Names), len(l.Gates), len(j.Gates))
	for i, name := range gates.Names[:both] {
		if l.Gates[i] != j.Gates[i] {
			result := "failed"
			if l.Gates[i] {
				result = "passed"
			}
			return fmt.Sprintf("gate %d, %s\t\tthe label says %s", i+1, name, result)
		}
	}
	switch {
	case l.Score == nil || j.Score == nil:
		return "unknown: one of them has no grade"
	case *l.Score != *j.Score:
		return fmt.Sprintf("grade\t\tthe label says %v", *l.Score)
	case both == 0:
		return "not in the grade; the gates of one of them are unknown"
	}
	return "nowhere"
}
