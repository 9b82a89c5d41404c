package build

import (
	"errors"
	"fmt"
	"io"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/slicesx"
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
	cli.WarnIf(f.streams.Err, s.Lifted)
	if s.Withdrawn > 0 {
		f.streams.Notef("warning: earlier versions of the corpus train on %s that are now protected; reports/withdrawn.json lists them with the versions\n", cli.Counted(s.Withdrawn, "attempt", "attempts"))
	}
	w := f.streams.Err
	if f.sources.Draft {
		printUnread(w, s)
	}
	if f.noisy.Quiet {
		return
	}
	printCounts(w, s)
	if s.Predicts != "" {
		fmt.Fprintln(w, s.Predicts)
	}
	printCorpus(w, f.target.Name, s)
}

// printCorpus prints the numbers of rows of a new corpus and the command that checks it.
func printCorpus(w io.Writer, name string, s *pipeline.Summary) {
	printRows(w, name, s.Rows)
	if s.Top > 0 {
		fmt.Fprintf(w, "at most %s per problem became rows; --set select.top=N changes the number\n", cli.Counted(s.Top, "attempt", "attempts"))
	}
	fmt.Fprintf(w, "check it with: arena verify %s\n", name)
}

// printCounts prints the first records that could not be read, the counts of records by stage, of
// attempts by domain and model, of rows by what they lack of their traces, of rows of unsolved
// attempts, and of records by the format that is not read. It warns of outcomes that are unknown or
// seem wrong.
func printCounts(w io.Writer, s *pipeline.Summary) {
	printUnread(w, s)
	choose.PrintFunnel(w, s.Funnel)
	if len(s.Domains) > 0 {
		fmt.Fprintf(w, "attempts by domain: %s\n", corpus.FormatCounts(s.Domains))
	}
	if len(s.Models) > 1 {
		fmt.Fprintf(w, "attempts by model: %s\n", reports.ModelsText(s.Models))
	}
	for _, warning := range s.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	if s.Alike > 0 {
		fmt.Fprintf(w, "%s a protected request in words; --same-only keeps those that ask for something else\n", cli.Counted(int(s.Alike), "attempt resembles", "attempts resemble"))
	}
	for _, word := range slicesx.SortedKeys(s.Lost) {
		fmt.Fprintf(w, "lost: %s in %d\n", word, s.Lost[word])
	}
	if len(s.Lost) > 0 {
		fmt.Fprintln(w, "docs/profiles.md and docs/sources.md say what each lost word means; the rows are kept")
	}
	if s.Failed > 0 {
		fmt.Fprintf(w, "warning: %d rows are attempts that their source calls unsolved: --where 'success' leaves them out\n", s.Failed)
	}
	for _, named := range slicesx.SortedKeys(s.Refused) {
		fmt.Fprintf(w, "refused: %s in %d\n", named, s.Refused[named])
	}
}

// printUnread prints the first records that could not be read.
func printUnread(w io.Writer, s *pipeline.Summary) {
	for _, line := range s.Unread {
		fmt.Fprintf(w, "not read: %s\n", line)
	}
}

// printRows prints the number of rows of each config and split of a corpus.
func printRows(
	w io.Writer,
	corpus string,
	rows map[string]int64,
) {
	fmt.Fprintf(w, "\n%s:", corpus)
	for _, name := range slicesx.SortedKeys(rows) {
		fmt.Fprintf(w, "  %s %d", name, rows[name])
	}
	fmt.Fprintln(w)
}

// printFailure prints the counts of a build or import that failed because too few attempts are left
// for a corpus, and returns err with the reasons. s is nil if there are no counts.
func printFailure(w io.Writer, s *pipeline.Summary, err error) error {
	if s == nil {
		return err
	}
	cli.Warn(w, s.CutFiles, s.Collisions)
	printCounts(w, s)
	if errors.Is(err, choose.ErrEmpty) {
		err = fmt.Errorf("%w: %s", err, choose.Reasons(s.Funnel))
	}
	return err
}

// keepsWork returns err with the hint that the same command continues the build, since the finished
// work on each input file is kept. An error that already has a hint is returned unchanged.
func keepsWork(err error) error {
	return cli.DefaultHint(err, "finished blocks are kept: fix the cause and run the same command again")
}
