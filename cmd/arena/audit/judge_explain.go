package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/judges/gates"
	"github.com/trajectory-arena/arena/report/attempt"
)

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

// errFound ends the reading of a day at the attempt that was looked for.
var errFound = errors.New("found")

// explain prints the walk of one attempt through the gates.
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

// walk writes what the judge says of an attempt.
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

// printLabel says where a label takes another walk, and by what.
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
