// Package look has the commands that show people the results for a day of attempts: explain as
// text, view as pages.
package look

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/report/attempt"
	"github.com/trajectory-arena/arena/traces"
)

// NewExplain returns the command `arena explain`.
func NewExplain(s *cli.Streams) *cobra.Command {
	var f explainFlags
	c := cli.Command("explain CORPUS RUN/PROBLEM [DAY…]", "Explain the result of every stage of a build for one attempt", cli.NumArgs(2, cli.AnyNumber),
		func(c *cobra.Command, args []string) error {
			return cli.ReadCorpus(c.Context(), args[0], func(fsys corpus.FS, dir string) error {
				return explain(c.Context(), s, fsys, dir, args, &f)
			})
		})
	cli.Out(c, &f.out)
	f.records.Register(c)
	cli.ReadsFiles(c)
	return c
}

type explainFlags struct {
	out     string
	records cli.RecordLimit
}

func explain(
	ctx context.Context,
	s *cli.Streams,
	fsys corpus.FS,
	dir string,
	args []string,
	f *explainFlags,
) error {
	l, err := attempt.Read(fsys, dir)
	if err != nil {
		return cli.CorpusError(fsys, dir, err)
	}
	i, known := l.Find(args[1])
	if !known {
		return cli.Failed(
			fmt.Errorf("no attempt %q in %s", args[1], args[0]),
			nearestOf(l, args[1])+"`arena inspect CORPUS --where true --head 20` lists some",
		)
	}
	days, err := daysOf(ctx, s, l, dir, args[2:], &f.records)
	if err != nil {
		return err
	}
	a := l.Argue(i)
	if err := days.Tell(ctx, l, a); err != nil {
		return err
	}
	if err := a.Clean(cli.WithoutSecrets); err != nil {
		return err
	}
	return cli.WriteText(s, f.out, l.Text(a))
}

// daysOf finds the trace files from which the corpus in dir was built, so that its attempts can be
// shown completely. It searches the days (folders of traces) in named or, if there are none, those
// that the build recorded and that still exist.
func daysOf(
	ctx context.Context,
	s *cli.Streams,
	l *attempt.Ledger,
	dir string,
	named []string,
	records *cli.RecordLimit,
) (days attempt.Days, err error) {
	if len(named) == 0 {
		named = slices.DeleteFunc(pipeline.RecordedDays(dir), func(day string) bool {
			_, missing := os.Stat(day)
			return missing != nil
		})
	}
	inputs, err := s.DayInputs(ctx, named)
	if err != nil {
		return days, err
	}
	if err = pipeline.HashInputs(ctx, 1, inputs); err != nil {
		return days, err
	}
	return l.DaysOf(inputs, records.Limit(traces.DefaultLimits())), nil
}

func nearestOf(l *attempt.Ledger, id string) string {
	if near := l.Similar(id); near != "" {
		return "the nearest is " + near + "; "
	}
	return ""
}
