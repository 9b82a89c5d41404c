package build

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/recipe"
	"github.com/trajectory-arena/arena/pipeline/rewrite"
	"github.com/trajectory-arena/arena/traces"
)

type rewriteFlags struct {
	streams *cli.Streams
	llm     instrument.LLMFlags
	// job has all settings except the days and the model.
	job     rewrite.Rewriting
	heldOut []string
	target  cli.Target
	work    string
	noisy   cli.Verbosity
	records cli.RecordLimit
}

func newRewrite(s *cli.Streams) *cobra.Command {
	f := &rewriteFlags{streams: s, llm: instrument.DefaultLLMFlags()}
	c := cli.Command("rewrite DAY… --corpus C -o OUT", "Rewrite attempts of programs, with reasoning that a model writes and checks confirm", cli.NumArgs(1, cli.AnyNumber),
		f.run)
	fl := c.Flags()
	cli.File(c, &f.job.Corpus, "corpus", "corpus whose ledger names the attempts, and whose split is kept")
	cli.Files(c, &f.job.Sources.Problems, "problems", "file of problems, where the days hold none; may be repeated")
	cli.Files(c, &f.job.Sources.Catalogs, "catalog", "catalogue, where the days hold none; may be repeated")
	cli.Files(c, &f.heldOut, "held-out", "problems that may not be trained on, as for arena build; may be repeated")
	fl.IntVar(&f.job.MaxRows, "most", 0, "maximum number of attempts to rewrite (default: as many as the corpus trains on)")
	fl.StringVar(&f.work, "work", "", "folder of temporary files (default OUT.work)")
	fl.BoolVarP(&f.job.Dry, "dry-run", "n", false, "print how many requests, tokens and dollars it would cost")
	f.target.Replacing(c)
	f.noisy.Flags(c)
	f.records.Register(c)
	f.llm.Settings.Flags(c)
	f.llm.Add(c)
	cli.ReadsDays(c)
	cli.Writes(c, "work")
	cli.Stages(c, "output")
	return c
}

func (f *rewriteFlags) run(c *cobra.Command, days []string) (err error) {
	if f.job.Corpus == "" || f.job.MaxRows < 0 {
		return cli.Misuse("no corpus given, or --most below 0", "name one that `arena build` made of these days with --corpus")
	}
	if err = f.target.Check(); err != nil {
		return err
	}
	m, err := f.llm.Open(f.streams.Err)
	if err != nil {
		return err
	}
	defer wrong.Close(&err, m.Close)
	if f.job.Corpus, err = f.streams.Path(c.Context(), f.job.Corpus); err != nil {
		return err
	}
	if days, err = f.streams.LocalDays(c.Context(), days); err != nil {
		return err
	}
	if err = f.target.SetDir(""); err != nil {
		return err
	}
	f.work = cmp.Or(f.work, f.target.Dir+pipeline.WorkSuffix)
	if f.job.Dry {
		return f.forecast(c.Context(), days, m.Judge)
	}
	done, err := f.target.Acquire(c.Context(), f.streams)
	if done || err != nil {
		return err
	}
	return f.write(c.Context(), days, m.Judge)
}

func (f *rewriteFlags) rewriting(days []string, m rewrite.Model) *rewrite.Rewriting {
	r := f.job
	r.Workers = instrument.ModelsAtOnce
	r.Model = m
	r.Progress = func() {}
	r.Target = f.target.FinishTarget(filepath.Join(f.work, "rewritten"))
	r.Sources.Days = days
	r.Sources.Limits = f.records.Limit(traces.DefaultLimits())
	r.Sources.Stdin = f.streams.In
	r.Sources.Spool = f.work
	return &r
}

func (f *rewriteFlags) forecast(
	ctx context.Context,
	days []string,
	j *llm.Judge,
) error {
	total := j.Forecast()
	r, err := f.rewriting(days, total).Write(ctx)
	if err != nil {
		return recipeError(err)
	}
	f.printSummary(r)
	f.streams.Notef(
		"%d requests would be sent, %d answers are held; about %d prompt and %d completion tokens, %s\n",
		total.Calls,
		total.Cached,
		total.Prompt,
		total.Completion,
		instrument.Dollars(total.USD),
	)
	return nil
}

func (f *rewriteFlags) write(
	ctx context.Context,
	days []string,
	j *llm.Judge,
) error {
	p := f.noisy.Progress(f.streams)
	defer p.Done()
	p.Begin("rewrite", 0)
	r := f.rewriting(days, j)
	r.Progress = p.Attempt
	report, err := r.Write(ctx)
	p.Done()
	if report != nil {
		f.printSummary(report)
	}
	if err != nil {
		return recipeError(err)
	}
	rewriteRecipe, err := recipe.Named(recipe.Rewrite)
	if err != nil {
		return err
	}
	input := recipe.Input{
		Corpus:   f.job.Corpus,
		Rollouts: r.Out,
		HeldOut:  f.heldOut,
		About:    report.About(),
		Reports:  map[string]any{"rewriting.json": report},
	}
	return writeRecipe(
		ctx,
		f.streams,
		rewriteRecipe,
		input,
		f.work,
		&f.target,
		f.noisy.Quiet,
	)
}

func (f *rewriteFlags) printSummary(r *rewrite.Report) {
	if f.noisy.Quiet {
		return
	}
	tally := r.Tally()
	delete(tally, "")
	f.streams.Notef(
		"%d solved attempts of programs, %d to be asked about  %s\n%s\n",
		r.Scripted,
		len(r.Attempts),
		corpus.FormatCounts(r.Dropped),
		r.Cut(),
	)
	if !f.job.Dry {
		requests, cost := r.Cost()
		f.streams.Notef("%d are believed  %s\n%d requests, %d prompt and %d completion tokens, %s, answers that the ledger held among them\n",
			r.Rows, corpus.FormatCounts(tally), requests, cost.Prompt, cost.Completion, instrument.Dollars(cost.USD))
	}
}
