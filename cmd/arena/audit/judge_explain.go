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
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/judges/gates"
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
	if d.flags.labels == "" {
		return printWalk(w, t, &dialogue, &j, nil)
	}
	labels, err := cli.ReadByAttempt[label](d.flags.labels, "a line is {eval_run_id, problem_id, score}")
	if err != nil {
		return err
	}
	beside, known := labels[t.RunID+"/"+t.ProblemID]
	if !known {
		return cli.Failed(errors.New("the labels do not have the attempt"), "leave --labels out, or name those of this day")
	}
	return printWalk(w, t, &dialogue, &j, &beside)
}

func printWalk(w io.Writer, t *arena.Trace, d *arena.Dialogue, j *arena.Judgement, beside *label) error {
	fmt.Fprintf(w, "%s  %s: %s\n", text.Line(t.ID), j.Judge, scoreOf(j.Score, string(j.Outcome)))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	failed := false
	for i, name := range gates.Names {
		switch {
		case i < len(j.Gates) && j.Gates[i]:
			fmt.Fprintf(table, "gate %d\t%s\tpassed\t%s\n", i+1, name, passages(j, d, t, i+1))
		case !failed:
			failed = true
			fmt.Fprintf(table, "gate %d\t%s\tfailed\t%s\n", i+1, name, text.Line(j.Detail))
		default:
			fmt.Fprintf(table, "gate %d\t%s\tnot asked\t\n", i+1, name)
		}
	}
	if beside != nil {
		printLabel(table, j, beside)
	}
	fmt.Fprintln(table, "\nstep\tin earlier results\tin none, nor in the request")
	all, _ := gates.Ground(t, d)
	for _, g := range all {
		if len(g.Held)+len(g.Nowhere) == 0 {
			continue
		}
		fmt.Fprintf(table, "%d\t%s\t%s\n", t.StepNumber(d.Turns[g.Turn].Step), text.Line(strings.Join(g.Held, ", ")), text.Line(strings.Join(g.Nowhere, ", ")))
	}
	return table.Flush()
}

func scoreOf(score *float64, otherwise string) string {
	if score == nil {
		return otherwise
	}
	return fmt.Sprint(*score)
}

// passages are what a judge cites for a gate, each in the words around it.
func passages(j *arena.Judgement, d *arena.Dialogue, t *arena.Trace, gate int) string {
	var cited []string
	for _, s := range j.Spans {
		if s.Gate == gate {
			cited = append(cited, fmt.Sprintf("step %d: %s", s.Step, text.Line(around(d, t, s))))
		}
	}
	return strings.Join(cited, "; ")
}

// margin is how many bytes are shown on both sides of a passage.
const margin = 60

// around is a cited passage between brackets, with the words beside it.
func around(d *arena.Dialogue, t *arena.Trace, s arena.Span) string {
	for i := range d.Turns {
		think := d.Turns[i].Think
		at := strings.Index(think, s.Quote)
		if t.StepNumber(d.Turns[i].Step) != s.Step || at < 0 {
			continue
		}
		from, to := max(0, at-margin), min(len(think), at+len(s.Quote)+margin)
		return strings.ToValidUTF8(think[from:at]+"["+s.Quote+"]"+think[at+len(s.Quote):to], "")
	}
	return "[" + s.Quote + "]"
}

// printLabel says where a label takes another walk, and by what.
func printLabel(w io.Writer, j *arena.Judgement, l *label) {
	fmt.Fprintf(w, "\nlabel\t%s\t\t%s\n", scoreOf(l.Score, "unscored"), text.Line(l.Detail))
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
