// Package build holds the commands that make corpora: build, stage, import, mix
// and recipe.
package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/recipe"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student"
)

// buildFlags are the flags of `arena build`. With --plan they are stored in a file, the plan, from
// which several processes of `arena stage` make the same build together.
type buildFlags struct {
	cli.Settings
	streams *cli.Streams
	target  cli.Target
	work    string
	// shared is the work folder in a bucket, nil if it is on disk. staging is the local folder in
	// which the corpus is then written.
	shared  *bucket.Work
	staging string
	plan    string
	shards  int
	// sources are the input files except the days, which are arguments.
	sources pipeline.Sources
	reading cli.Reading
	// domain is the name or the file of the domain of all attempts, empty to recognise each.
	domain   string
	where    string
	workers  int
	force    bool
	dryRun   bool
	steps    bool
	strict   bool
	sameOnly bool
	noisy    cli.Verbosity
	judge    instrument.JudgeChoice
	vectors  instrument.Embeddings
	// defaults changes the default settings, before configuration file and flags apply. It is nil
	// if nothing changes.
	defaults func(*pipeline.Config)
}

func (f *buildFlags) register(c *cobra.Command) {
	f.Flags(c)
	f.target.Flags(c)
	workFlag(c, &f.work)
	c.Flags().StringVar(&f.where, "where", "", "only attempts that satisfy this expression, such as 'judge_score >= 0.7 && n_steps <= 15'")
	c.Flags().BoolVar(&f.steps, "steps", false, "also write the config steps: kept attempts with a label for every turn")
	c.Flags().StringVar(&f.domain, "domain", "", "domain of all attempts: a name of arena list domains, or a file (default: recognised for each attempt)")
	cli.Jobs(c, &f.workers, "inputs worked on at once (default: workers of the configuration, else cores)")
	f.noisy.Flags(c)
	cli.Group(c, "What is read beside the traces:", func(c *cobra.Command) {
		cli.Files(c, &f.sources.Problems, "problems", "problems file (default problems.jsonl in each DAY)")
		cli.Files(c, &f.sources.Catalogs, "catalog", "catalogue file (default catalog.jsonl in each DAY)")
		f.reading.Register(c)
		c.Flags().BoolVar(&f.sources.AnyNetwork, "any-network", f.sources.Draft, "allow runs of several networks in one corpus, such as mainnet and testnet")
	})
	cli.Group(c, "What is kept out of training:", func(c *cobra.Command) {
		cli.Files(c, &f.sources.HeldOut, "held-out", "problems that may not be trained on: a file, a suite, a folder of banks, or a corpus (the problems that its bank.json protects); may be repeated")
		cli.File(c, &f.sources.Bank, "bank", "bank.json of an earlier corpus, whose split is kept")
		c.Flags().StringArrayVar(&f.sources.Release, "release", nil, "id of a problem that --bank holds out and that is to be split again; may be repeated")
		c.Flags().BoolVar(&f.strict, "strict", false, "drop every row that may ask for a protected problem, whatever share of honest rows is lost (guard.max_false=1)")
		c.Flags().BoolVar(&f.sameOnly, "same-only", false, "by wording, drop only rows that ask for the same as a protected problem (guard.same_only=true)")
	})
	cli.ReadsDays(c)
	cli.Stages(c, "output")
	f.judge.Flags(c)
	f.vectors.Flags(c, instrument.Titles, instrument.Guard)
}

// NewBuild returns `arena build`.
func NewBuild(s *cli.Streams) *cobra.Command {
	return (&buildFlags{
		streams:  s,
		Settings: cli.BuildSettings(),
	}).command()
}

// Draft builds a corpus of days to be looked at, with the default configuration. It also builds one
// if attempts cannot be scored or if too few attempts are good enough.
func Draft(
	ctx context.Context,
	s *cli.Streams,
	out string,
	days []string,
	records cli.RecordLimit,
) error {
	f := &buildFlags{
		streams:  s,
		Settings: cli.BuildSettings(),
		sources:  pipeline.Sources{Draft: true},
	}
	c := f.command()
	f.reading.RecordLimit = records
	c.SetArgs(append([]string{"-q", "-o", out, "--"}, days...))
	c.SilenceUsage = true
	c.SilenceErrors = true
	return c.ExecuteContext(ctx)
}

func (f *buildFlags) command() *cobra.Command {
	c := cli.Command("build DAY… -o CORPUS", "Turn days of traces into a verified corpus", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, args []string) error {
			f.trustRuns(args)
			return f.build(c, args)
		})
	f.register(c)
	cli.Group(c, "Many machines:", func(c *cobra.Command) {
		c.Flags().StringVar(&f.plan, "plan", "", "write the plan with which arena stage builds this on many machines, and build nothing")
		c.Flags().IntVar(&f.shards, "shards", 1, "number of shards of the plan")
	})
	cli.Replaces(c, "plan")
	c.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "print what would be done, and do nothing")
	c.Flags().BoolVar(&f.force, "force", false, "replace a corpus of other days, ignore finished blocks and build everything again")
	return c
}

// trustRuns changes the default settings if all days (folders of traces) are runs of `arena eval`.
// In such a run a model made every call, so that the filter need not compare an agent's attempts to
// find calls that a program made.
func (f *buildFlags) trustRuns(days []string) {
	traced := slices.ContainsFunc(days, func(day string) bool {
		spec, err := student.ReadSpec(day)
		return err != nil || spec.Schema != student.SpecSchema
	})
	if !traced {
		f.defaults = recipe.TrustCalls
	}
}

func (f *buildFlags) build(c *cobra.Command, days []string) error {
	if err := f.checkPlannable(days); err != nil {
		return err
	}
	return f.with(c, days, func(r *pipeline.Run) error {
		switch {
		case f.plan != "":
			return f.makePlan(c, days, r)
		case f.dryRun:
			return f.forecast(c.Context(), r)
		default:
			return f.write(c.Context(), r)
		}
	})
}

func (f *buildFlags) write(ctx context.Context, r *pipeline.Run) error {
	if err := cli.Lock(f.streams, f.target.Dir); err != nil {
		return err
	}
	if f.force {
		if err := r.Forget(); err != nil {
			return keepsWork(err)
		}
	}
	summary, err := r.Build(ctx)
	if err != nil {
		return keepsWork(printFailure(f.streams.Err, summary, err))
	}
	if err = f.target.Publish(ctx); err != nil {
		return err
	}
	f.printSummary(summary)
	if summary.NotRun != "" {
		return cli.Limit(errors.New(summary.NotRun), instrument.TierHint)
	}
	return nil
}

func (f *buildFlags) forecast(ctx context.Context, r *pipeline.Run) error {
	forecast, err := r.Forecast(ctx)
	if err != nil {
		return keepsWork(err)
	}
	cost := "the offline judges cost nothing"
	if f.judge.AsksModels() {
		cost = "what models would cost at most: `arena judge … -n` with the same flags, once more with --steps for verdicts on steps"
	}
	f.streams.Notef("%s%s\n", forecast, cost)
	return nil
}

// with opens the judges, shows progress and calls do with the build that the flags describe. days
// are its folders of traces, which are copied to this machine first if they are in a bucket.
func (f *buildFlags) with(
	c *cobra.Command,
	days []string,
	do func(*pipeline.Run) error,
) (err error) {
	r, err := f.newRun(c)
	if err != nil {
		return err
	}
	if r.Sources.Days, err = f.streams.LocalDays(c.Context(), days); err != nil {
		return err
	}
	opened, err := f.judge.OpenWithin(f.streams.Err, r.Config.MaxUnscored)
	if err != nil {
		return err
	}
	defer wrong.Close(&err, opened.Close)
	f.setInstruments(r, opened)
	cli.FitHeap()
	p := f.noisy.Progress(f.streams)
	defer p.Done()
	r.Progress = p.Event
	return do(r)
}

// newRun returns the build that the flags describe. The caller adds its input folders and judges.
func (f *buildFlags) newRun(c *cobra.Command) (*pipeline.Run, error) {
	if err := f.target.Check(); err != nil {
		return nil, err
	}
	config, err := f.configuration(c)
	if err != nil {
		return nil, err
	}
	if err = f.target.SetDir(f.staging); err != nil {
		return nil, err
	}
	out := f.target.Dir
	work, err := workFolder(out, f.work)
	if err != nil {
		return nil, err
	}
	program, err := cli.Program()
	if err != nil {
		return nil, err
	}
	r := &pipeline.Run{
		Config:  config,
		Out:     out,
		Work:    work,
		Version: cli.Version(),
		Program: program,
		License: f.target.License,
		FS:      corpus.Disk{},
		Pages:   plots,
		Replace: f.force,
	}
	if r.Domains, err = domain.NewSet(f.domain); err != nil {
		return nil, cli.Usage(err, "`arena list domains` lists the built-in domains")
	}
	r.Sources = f.sources
	r.Sources.Stdin, r.Sources.Spool = f.streams.In, r.Work
	return r, f.equip(r, config.Harness)
}

// workFlag adds the flag --work to c.
func workFlag(c *cobra.Command, work *string) {
	c.Flags().StringVar(work, "work", "", "folder of finished blocks, safe to delete (default CORPUS.work)")
	cli.Writes(c, "work")
}

// workFolder returns the work folder of a build that writes its corpus to out. work is the value of
// the flag --work.
func workFolder(out, work string) (string, error) {
	if bucket.IsURL(work) {
		return "", cli.Misuse("one process works in a folder", "arena stage takes a bucket for --work")
	}
	if work != "" && cli.Within(out, work) {
		return "", cli.Usage(fmt.Errorf("work in %s: it lies in the corpus that is written", work), "give --work a folder beside the corpus")
	}
	return cmp.Or(work, out+pipeline.WorkSuffix), nil
}

// setInstruments sets the judge of attempts and the judge of steps in the run r, and records their
// names and settings for the manifest. If models label steps, it also turns the labelling of steps
// on. If models grade attempts, it turns off the test grades that measure a judge, and the grading
// of attempts that are dropped.
func (f *buildFlags) setInstruments(r *pipeline.Run, o *instrument.Judges) {
	r.Judge = o.Judge
	r.StepJudge = o.Steps
	r.Instruments = pipeline.Instruments{
		Titles:    f.vectors.TitlesInstrument(),
		Judge:     pipeline.NewInstrumentID(o.Is),
		StepJudge: pipeline.NewInstrumentID(o.StepsIs),

		JudgeChosen: o.Asks,
		StepsChosen: o.StepsAsk,
	}
	r.Config.MaxUnscored = o.MaxUnscored
	r.Config.Steps = r.Config.Steps || o.StepsAsk
	if o.Asks {
		r.Config.Judge = pipeline.JudgeConfig{}
	}
}

func (f *buildFlags) equip(r *pipeline.Run, harness string) (err error) {
	if r.Harness, err = shop.Profile(harness); err != nil {
		return cli.Usage(err, "set harness to one of them")
	}
	if r.Agreement, err = f.judge.Measured(); err != nil {
		return err
	}
	if r.Probes, err = f.judge.Probed(); err != nil {
		return err
	}
	if r.Titles, err = f.vectors.Titles(); err != nil {
		return err
	}
	r.Embedding, err = f.vectors.Tier()
	return err
}

// configuration returns the configuration from the defaults, the configuration file and the flags.
// Flags take precedence over the file.
func (f *buildFlags) configuration(c *cobra.Command) (pipeline.Config, error) {
	config := pipeline.Defaults()
	config.Workers = runtime.NumCPU()
	if f.defaults != nil {
		f.defaults(&config)
	}
	if err := f.Fill(&config); err != nil {
		return config, err
	}
	if c.Flags().Changed("jobs") {
		config.Workers = f.workers
	}
	config.Steps = config.Steps || f.steps
	if f.strict && f.sameOnly {
		return config, cli.Misuse("--strict and --same-only are opposites", "give one of them, or neither")
	}
	if f.strict {
		config.Guard.MaxFalse = 1
	}
	config.Guard.SameOnly = config.Guard.SameOnly || f.sameOnly
	config.RunID = cmp.Or(f.reading.RunID, config.RunID)
	config.Reading = f.reading.Limit(config.Reading)
	if c.Flags().Changed("max-unreadable") {
		config.MaxUnreadable = f.reading.MaxUnreadable
	}
	config.Select.Where = cmp.Or(f.where, config.Select.Where)
	if err := config.Validate(); err != nil {
		return config, cli.Usage(err, "run `arena build --help` for an example")
	}
	_, err := cli.ParseWhere(config.Select.Where) // before any work is done
	return config, err
}
