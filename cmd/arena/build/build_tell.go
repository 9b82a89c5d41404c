package build

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/reports"
	"github.com/trajectory-arena/arena/report"
)

func plots(r *reports.Set) (map[string][]byte, error) {
	return report.Plots(r.Charts()), nil
}

func (f *buildFlags) printSummary(s *pipeline.Summary) {
	cli.Warn(f.streams.Err, s.CutFiles, s.Collisions)
	if s.Lifted != "" {
		fmt.Fprintf(f.streams.Err, "warning: %s\n", s.Lifted)
	}
	if s.Withdrawn > 0 {
		fmt.Fprintf(f.streams.Err, "warning: earlier versions of the corpus train on %s that are now protected; reports/withdrawn.json lists them with the versions\n", cli.Counted(s.Withdrawn, "attempt", "attempts"))
	}
	if f.noisy.Quiet {
		return
	}
	w := f.streams.Err
	choose.PrintFunnel(w, s.Funnel)
	if s.Predicts != "" {
		fmt.Fprintln(w, s.Predicts)
	}
	printRows(w, f.target.Name, s.Rows)
	if s.Top > 0 {
		fmt.Fprintf(w, "at most %s per problem became rows; --set select.top=N changes the number\n", cli.Counted(s.Top, "attempt", "attempts"))
	}
	fmt.Fprintf(w, "check it with: arena verify %s\n", f.target.Name)
}

// printRows prints the number of rows of each config and split of a corpus.
func printRows(
	w io.Writer,
	corpus string,
	rows map[string]int64,
) {
	fmt.Fprintf(w, "\n%s:", corpus)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(w, "  %s %d", name, rows[name])
	}
	fmt.Fprintln(w)
}

// printFunnel prints how many records each stage of a build passed on and dropped, if s is not nil.
// A build that fails because too few attempts are left has such a summary too. printFunnel always
// returns err, with the hint that finished work is kept.
func (f *buildFlags) printFunnel(s *pipeline.Summary, err error) error {
	if s != nil {
		cli.Warn(f.streams.Err, s.CutFiles, s.Collisions)
		choose.PrintFunnel(f.streams.Err, s.Funnel)
		if errors.Is(err, choose.ErrEmpty) {
			err = fmt.Errorf("%w: %s", err, choose.Reasons(s.Funnel))
		}
	}
	return keepsWork(err)
}

// keepsWork returns err with the hint that the same command continues the build, since the finished
// work on each input file is kept. An error that already has a hint is returned unchanged.
func keepsWork(err error) error {
	return cli.DefaultHint(err, "finished blocks are kept: fix the cause and run the same command again")
}
