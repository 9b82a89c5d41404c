package build

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/pipeline"
)

type importFlags struct {
	target  cli.Target
	work    string
	reading cli.Reading
	heldOut []string
	// unguarded is set by a user who states that no problems are held out.
	unguarded bool
	sameOnly  bool
	where     string
	domain    string
	asIs      bool
	workers   int
	noisy     cli.Verbosity
}

// NewImport returns `arena import`: a build of attempts as they were recorded.
func NewImport(s *cli.Streams) *cobra.Command {
	f := importFlags{workers: runtime.NumCPU()}
	c := cli.Command("import IN… -o CORPUS", "Make a corpus of other people's traces, as they are", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, paths []string) error {
			return f.run(c.Context(), s, paths)
		})
	f.target.Flags(c)
	workFlag(c, &f.work)
	f.reading.Register(c)
	cli.Files(c, &f.heldOut, "held-out", "problems that no row may ask for: a file, a suite, a folder of banks, or a corpus (the problems that its bank.json protects); may be repeated")
	flags := c.Flags()
	flags.BoolVar(&f.sameOnly, "same-only", false, "by wording, leave out only rows that ask for the same as a protected problem")
	flags.BoolVar(&f.target.Force, "force", false, "replace a corpus of other traces, ignore finished blocks and import everything again")
	flags.BoolVar(&f.unguarded, "unguarded", false, "write a corpus although no problems are held out; its card says so")
	flags.StringVar(&f.where, "where", "", "only attempts that satisfy this expression, such as 'reward >= 1'")
	flags.StringVar(&f.domain, "domain", "", "domain of all attempts: a name of arena list domains, or a file (default: recognised for each attempt)")
	flags.BoolVar(&f.asIs, "as-is", false, "leave secrets, addresses and card numbers in the texts")
	cli.Jobs(c, &f.workers, "inputs worked on at once")
	f.noisy.Flags(c)
	cli.ReadsDays(c)
	return c
}

func (f *importFlags) run(ctx context.Context, s *cli.Streams, paths []string) error {
	r, err := f.newRun(s)
	if err != nil {
		return err
	}
	if r.Sources.Days, err = s.LocalDays(ctx, paths); err != nil {
		return err
	}
	if err = cli.Lock(s, f.target.Dir); err != nil {
		return err
	}
	if f.target.Force {
		if err = r.Forget(); err != nil {
			return keepsWork(err)
		}
	}
	cli.FitHeap()
	progress := f.noisy.Progress(s)
	defer progress.Done()
	r.Progress = progress.Event
	summary, err := r.Build(ctx)
	progress.Done()
	if err != nil {
		return keepsWork(printFailure(s.Err, summary, err))
	}
	if err = f.target.Publish(ctx); err != nil {
		return err
	}
	cli.Warn(s.Err, summary.CutFiles, summary.Collisions)
	if !f.noisy.Quiet {
		printCounts(s.Err, summary)
		printCorpus(s.Err, f.target.Name, summary)
	}
	return nil
}

// newRun returns the build that the flags describe, without its input folders.
func (f *importFlags) newRun(s *cli.Streams) (*pipeline.Run, error) {
	if err := f.target.Check(); err != nil {
		return nil, err
	}
	if (len(f.heldOut) > 0) == f.unguarded {
		return nil, cli.Misuse("nothing is held out", "give --held-out FILE with the problems that no row may ask for, or else --unguarded")
	}
	expr, err := cli.ParseWhere(f.where)
	if err != nil {
		return nil, err
	}
	if expr != nil && expr.Measured() != "" {
		return nil, cli.Usage(fmt.Errorf("read --where: an import measures nothing, and %s is null in all of it", expr.Measured()), "`arena build` measures it and has --where, too")
	}
	domains, err := domain.NewSet(f.domain)
	if err != nil {
		return nil, cli.Usage(err, "`arena list domains` lists the built-in domains")
	}
	if err = f.target.Stage(s); err != nil {
		return nil, err
	}
	work, err := workFolder(f.target.Dir, f.work)
	if err != nil {
		return nil, err
	}
	program, err := cli.Program()
	if err != nil {
		return nil, err
	}
	config := pipeline.Defaults().AsRecorded()
	config.Workers = f.workers
	config.RunID = f.reading.RunID
	config.Reading = f.reading.Limit(config.Reading)
	config.MaxUnreadable = f.reading.MaxUnreadable
	config.Select.Where = f.where
	config.Redact.Secrets = !f.asIs
	config.Guard.SameOnly = f.sameOnly
	r := &pipeline.Run{
		Config:  config,
		Domains: domains,
		Out:     f.target.Dir,
		Work:    work,
		Version: cli.Version(),
		Program: program,
		License: f.target.License,
		FS:      corpus.Disk{},
		Replace: f.target.Force,
	}
	r.Sources = pipeline.Sources{
		HeldOut: f.heldOut,
		Stdin:   s.In,
		Spool:   work,

		AnyNetwork: true,
	}
	return r, nil
}
