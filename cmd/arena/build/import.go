package build

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/foreign"
	"github.com/trajectory-arena/arena/traces"
)

type importFlags struct {
	foreign.Import
	target  cli.Target
	reading cli.Reading
	// unguarded is set by a user who states that no problems are held out.
	unguarded bool
	where     string
	domain    string
	asIs      bool
	quiet     bool
}

// NewImport returns `arena import`.
func NewImport(s *cli.Streams) *cobra.Command {
	f := importFlags{Import: foreign.Import{Workers: runtime.NumCPU()}}
	c := cli.Command("import IN… -o CORPUS", "Make a corpus of other people's traces, as they are", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, paths []string) error {
			return f.run(c, s, paths)
		})
	f.target.Replacing(c)
	f.reading.Register(c)
	cli.Files(c, &f.HeldOut, "held-out", "problems that no row may ask for: a file, a suite, a folder of banks, or a corpus (the problems that its bank.json protects); may be repeated")
	flags := c.Flags()
	flags.BoolVar(&f.unguarded, "unguarded", false, "write a corpus although no problems are held out; its card says so")
	flags.StringVar(&f.where, "where", "", "only attempts that satisfy this expression, such as 'reward >= 1'")
	flags.StringVar(&f.domain, "domain", "", "domain of all attempts: a name of arena list domains, or a file (default: recognised for each attempt)")
	flags.BoolVar(&f.asIs, "as-is", false, "leave secrets, addresses and card numbers in the texts")
	cli.Jobs(c, &f.Workers, "records worked on at once")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no counts")
	cli.ReadsDays(c)
	return c
}

func (f *importFlags) run(
	c *cobra.Command,
	s *cli.Streams,
	paths []string,
) error {
	if err := f.target.Check(); err != nil {
		return err
	}
	if (len(f.HeldOut) > 0) == f.unguarded {
		return cli.Misuse("nothing is held out", "give --held-out FILE with the problems that no row may ask for, or else --unguarded")
	}
	var err error
	if f.Where, err = cli.ParseWhere(f.where); err != nil {
		return err
	}
	if f.Where != nil && f.Where.Measured() != "" {
		return cli.Usage(fmt.Errorf("read --where: an import measures nothing, and %s is null in all of it", f.Where.Measured()), "`arena build` measures it and has --where, too")
	}
	if f.Domains, err = domain.NewSet(f.domain); err != nil {
		return cli.Usage(err, "`arena list domains` lists the built-in domains")
	}
	cli.LimitHeap(cli.HeapLimit)
	return f.target.Make(c.Context(), s, func(target finish.Target) error {
		return f.write(c.Context(), s, paths, target)
	})
}

func (f *importFlags) write(
	ctx context.Context,
	s *cli.Streams,
	paths []string,
	target finish.Target,
) error {
	var err error
	if f.Inputs, err = s.DayInputs(ctx, paths); err != nil {
		return err
	}
	if f.Target = target; !f.asIs {
		f.Redact = redact.New(redact.Options{})
	}
	progress := cli.Verbosity{Quiet: f.quiet}.Progress(s)
	f.Limits = f.reading.Limit(traces.DefaultLimits())
	f.RunID, f.MaxUnreadable, f.Progress = f.reading.RunID, f.reading.MaxUnreadable, progress.Event
	summary, err := f.Run(ctx)
	progress.Done()
	if err != nil {
		return printFailure(s.Err, summary, err)
	}
	cli.Warn(s.Err, summary.CutFiles, summary.Collisions)
	if !f.quiet {
		printCounts(s.Err, summary)
		printCorpus(s.Err, f.target.Name, summary)
	}
	return nil
}
