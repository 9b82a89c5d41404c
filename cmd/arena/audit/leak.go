package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

type leakFlags struct {
	heldOut  []string
	out      string
	report   string
	failOn   string
	drop     float64
	onlySame bool
	workers  int
	quiet    bool
	records  cli.RecordLimit
	embed    instrument.Embeddings
}

// NewLeak returns `arena leak`.
func NewLeak(s *cli.Streams) *cobra.Command {
	f := leakFlags{workers: runtime.NumCPU()}
	c := cli.Command("leak --held-out BANK… CANDIDATES…", "Find protected problems in any texts or corpus, however they are reworded", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, names []string) error {
			return f.run(c.Context(), s, names)
		})
	cli.Files(c, &f.heldOut, "held-out", "protected problems; may be repeated")
	cli.Out(c, &f.out)
	flags := c.Flags()
	flags.StringVar(&f.report, "report", "", "write the contamination report here")
	cli.ReadsFiles(c)
	cli.Replaces(c, "report")
	cli.Choice(c, &f.failOn, "fail-on", []string{"drop", "same"}, "exit 3 if a row is to be dropped (drop) or asks for the same (same)")
	cli.Share(c, &f.drop, "threshold", "drop from this lexical score on (default: the detector's own, raised with the bank)")
	flags.BoolVar(&f.onlySame, "same-only", false, "by wording, drop only rows that ask for the same as a protected problem")
	cli.Jobs(c, &f.workers, "workers")
	f.records.Register(c)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "nothing on standard error")
	f.embed.Flags(c, instrument.Guard)
	c.AddCommand(cli.Family(
		"bank",
		"Keep the protected bank's state: what is open, held out, never to be touched",
		newBankAdd(s),
		newBankFreeze(s),
		newBankList(s),
		newBankRotate(s),
	))
	return c
}

func (f *leakFlags) run(
	ctx context.Context,
	s *cli.Streams,
	names []string,
) error {
	paths, err := s.Local(ctx, names)
	if err != nil {
		return err
	}
	bank, err := readBanks(f.heldOut)
	if err != nil {
		return err
	}
	g, err := guard.New(bank, guard.Config{
		Drop:     f.drop,
		SameOnly: f.onlySame,
	})
	if err != nil {
		return err
	}
	if err = g.Canary(); err != nil {
		return err
	}
	members, err := g.Members(ctx)
	if err != nil {
		return err
	}
	scan := &leakScan{
		guard:   g,
		members: members,
		report:  guard.NewReport(g),
		files:   newRowFiles(s, f.quiet, &f.records),
		workers: f.workers,
	}
	start, err := f.embed.Tier()
	if err == nil && start != nil {
		scan.tier, err = start(ctx, scan.guard, scan.report)
	}
	if err != nil {
		return err
	}
	err = f.write(s, scan, func(w io.Writer) error {
		return scan.paths(ctx, w, paths)
	})
	scan.files.progress.Done()
	if err != nil {
		return err
	}
	return f.finish(s, scan, paths)
}

// write calls search to write the output lines and, if --report is set, writes the report. It opens
// the report's file before the search, so that a wrong path fails at once.
func (f *leakFlags) write(
	s *cli.Streams,
	scan *leakScan,
	search func(io.Writer) error,
) error {
	if f.report == "" {
		return cli.WriteWhole(s, f.out, search)
	}
	return cli.WriteWhole(s, f.report, func(w io.Writer) error {
		if err := cli.WriteWhole(s, f.out, search); err != nil {
			return err
		}
		_, err := io.WriteString(w, cli.WithoutSecrets(string(scan.report.Encode())))
		return err
	})
}

func (f *leakFlags) finish(
	s *cli.Streams,
	scan *leakScan,
	paths []string,
) error {
	if err := f.say(s, scan, paths); err != nil {
		return err
	}
	leaks := map[string]int{
		"drop": len(scan.report.Dropped),
		"same": scan.onlySame,
	}[f.failOn]
	if leaks > 0 {
		return cli.Limit(fmt.Errorf("%d rows match protected problems", leaks), "the lines with drop true say which and why")
	}
	if scan.report.NotRun != "" {
		return cli.Limit(errors.New(scan.report.NotRun), instrument.TierHint)
	}
	return nil
}

func (f *leakFlags) say(
	s *cli.Streams,
	scan *leakScan,
	paths []string,
) error {
	if f.quiet {
		return nil
	}
	s.Notef("arena: %d rows, %d to drop (%d ask for the same), %d beyond the lexical tier\n",
		scan.report.Rows, len(scan.report.Dropped), scan.onlySame, scan.report.Unreadable)
	if lost := scan.report.FalseDrops; lost.Held > 0 {
		s.Notef(
			"arena: of rows like the bank's about %.1f %% (%.1f to %.1f) are dropped and ask for something else\n",
			100*lost.Share,
			100*lost.Low,
			100*lost.High,
		)
	}
	return printUnsearched(s, paths)
}

// printUnsearched prints how many files in the folders were not searched, since they have no rows,
// and the names of the first five.
func printUnsearched(s *cli.Streams, paths []string) error {
	const most = 5
	var unread []string
	for _, path := range paths {
		if path == "-" {
			continue
		}
		others, err := rows.OtherFiles(path)
		if err != nil {
			return err
		}
		unread = append(unread, others...)
	}
	if n := len(unread); n > 0 {
		s.Notef(
			"arena: not read: %d files that are no rows, first %s\n",
			n,
			strings.Join(unread[:min(n, most)], ", "),
		)
	}
	return nil
}

// readBanks reads protected problems (problems kept for evaluation) from paths. It returns an error
// if there are no paths, since a search for leaks would then find nothing.
func readBanks(paths []string) ([]guard.Entry, error) {
	if len(paths) == 0 {
		return nil, cli.Misuse("no protected bank is given", "name one with --held-out")
	}
	bank, _, err := finish.ReadHeldOut(paths)
	if err != nil {
		return nil, cli.DefaultHint(err, cli.BankForms)
	}
	return bank, nil
}
