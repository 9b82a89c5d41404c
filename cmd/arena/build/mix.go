package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/mix"
)

type mixFlags struct {
	mix.Mix
	// capped reports whether the user set --per-problem.
	capped bool
	target cli.Target
	quiet  bool
}

// NewMix returns `arena mix`.
func NewMix(s *cli.Streams) *cobra.Command {
	f := mixFlags{Mix: mix.Mix{
		Config:  mix.Defaults(),
		Workers: runtime.NumCPU(),
	}}
	c := cli.Command("mix A[:WEIGHT] B[:WEIGHT]… -o CORPUS", "Make one corpus of several, with all rows or weighted by tokens", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, args []string) error {
			f.capped = c.Flags().Changed("per-problem")
			return f.run(c.Context(), s, args)
		})
	f.target.Replacing(c)
	c.Flags().IntVar(&f.Config.PerProblem, "per-problem", f.Config.PerProblem, "maximum number of rows with the same request in a config of the train split; 0 for any number, which is the default without weights")
	c.Flags().IntVar(&f.Config.PerAgent, "per-agent", 0, "maximum number of rows of one agent in a config; 0 for any number")
	cli.Share(c, &f.Config.Near, "near", "similarity from which two rows with one request are the same")
	c.Flags().StringVar(&f.Config.Where, "where", "", "only attempts that satisfy this expression, such as 'judge_score >= 0.7 && n_steps <= 15'")
	c.Flags().BoolVar(&f.Config.Hotkeys, "redact-hotkeys", false, "also replace the accounts of agents")
	cli.Files(c, &f.HeldOut, "held-out", "further problems, beside those of the corpora, that may not be trained on; may be repeated")
	cli.Jobs(c, &f.Workers, "configs worked on at once")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no counts")
	cli.ReadsFiles(c)
	return c
}

func (f *mixFlags) run(
	ctx context.Context,
	s *cli.Streams,
	args []string,
) error {
	var err error
	if f.Sources, err = weighedCorpora(args); err != nil {
		return err
	}
	if !f.capped && f.Sources[0].Weight == 0 {
		f.Config.PerProblem = 0 // without weights, all rows are taken
	}
	if _, err = cli.ParseWhere(f.Config.Where); err != nil {
		return err
	}
	if err = f.Validate(); err != nil {
		return cli.Usage(err, "run `arena mix --help` for an example")
	}
	return f.target.Make(ctx, s, func(target finish.Target) error {
		f.Target = target
		return f.write(ctx, s)
	})
}

func (f *mixFlags) write(ctx context.Context, s *cli.Streams) error {
	// Each source is read three times, once to verify it, so that one in a bucket is copied first.
	paths, err := s.Local(ctx, f.folders())
	if err != nil {
		return err
	}
	for i, path := range paths {
		f.Sources[i].Dir = path
	}
	progress := cli.Verbosity{Quiet: f.quiet}.Progress(s)
	f.FS = cli.Watched(
		corpus.Disk{},
		f.folders(),
		progress.Reading("mix", 0),
	)
	report, err := f.Run(ctx)
	progress.Done()
	if report != nil && (err != nil || !f.quiet) {
		f.printSummary(s, report)
	}
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, corpus.ErrDamaged) {
		return cli.Failed(err, "name corpora, each with its weight, such as monday:0.5; "+cli.NoCorpus)
	}
	return cli.DefaultHint(err, "nothing was written: mend the cause and run the same command again")
}

func (f *mixFlags) folders() []string {
	return slicesx.Map(f.Sources, func(s mix.Source) string {
		return s.Dir
	})
}

// weighedCorpora parses arguments such as monday:0.5, a corpus and its weight. If no argument has a
// weight, all weights are 0 and all rows are taken. Otherwise a missing weight is 1.
func weighedCorpora(args []string) ([]mix.Source, error) {
	out := make([]mix.Source, len(args))
	weighed := false
	for i, arg := range args {
		out[i] = mix.Source{Dir: arg}
		name, text, isWeighted := cli.SplitWeight(arg)
		if !isWeighted {
			continue
		}
		weight, err := strconv.ParseFloat(text, 64)
		if err != nil || name == "" {
			return nil, cli.Usage(
				fmt.Errorf("read %s: %q is no weight", arg, text),
				"write it as CORPUS:WEIGHT, such as monday:0.5",
			)
		}
		out[i] = mix.Source{
			Dir:    name,
			Weight: weight,
		}
		weighed = true
		if !(weight > 0) || math.IsInf(weight, 1) {
			return nil, cli.Usage(fmt.Errorf("read %s: a weight of %v", arg, weight), "give a number above 0, or leave the corpus out")
		}
	}
	for i := range out {
		if weighed && out[i].Weight == 0 {
			out[i].Weight = 1
		}
	}
	return out, nil
}

func (f *mixFlags) printSummary(s *cli.Streams, r *mix.Report) {
	choose.PrintFunnel(s.Err, r.Funnel)
	printRows(s.Err, f.target.Name, r.Rows())
	names := map[string]string{}
	for _, source := range r.Sources {
		names[source.Corpus] = fmt.Sprintf("%s (%s)", source.Dir, source.Corpus[:12])
	}
	for _, p := range r.Parts {
		s.Notef(
			"%-5s %-6s %s  %8d of %8d rows  %12s tokens  %.4f  %s\n",
			p.Config,
			p.Split,
			names[p.Corpus],
			p.Out,
			p.In,
			p.Tokens(),
			p.Share,
			corpus.FormatCounts(p.Dropped),
		)
	}
}
