package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/evaluate"
	"github.com/trajectory-arena/arena/cmd/arena/export"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/recipe"
)

type recipeFlags struct {
	streams *cli.Streams
	cli.Settings
	eval    evaluate.Flags
	recipe  recipe.Recipe
	corpus  string
	run     string
	teacher string
	heldOut []string
	target  cli.Target
	work    string
	workers int
	dryRun  bool
	// threshold is the lexical score from which a problem was too near to a protected one to be a
	// training problem. The guard of the rollouts uses the same score.
	threshold float64
}

// NewRecipe returns `arena recipe`.
func NewRecipe(s *cli.Streams) *cobra.Command {
	f := &recipeFlags{
		streams:  s,
		Settings: cli.BuildSettings(),
		workers:  runtime.NumCPU(),
	}
	c := cli.Command("recipe NAME --corpus C -o OUT", "Make the data of one training stage", cli.NumArgs(1, 1),
		func(c *cobra.Command, args []string) (err error) {
			if f.recipe, err = recipe.Named(args[0]); err != nil {
				return cli.Usage(err, "`arena recipe --help` says what each is")
			}
			return f.produce(c)
		})
	fl := c.Flags()
	cli.File(c, &f.corpus, "corpus", "corpus whose training problems, split and rows are used")
	cli.File(c, &f.run, "run", "run of arena eval to take rollouts from instead of playing")
	cli.File(c, &f.teacher, "teacher", "run of the teacher, for steps")
	cli.Files(c, &f.heldOut, "held-out", "problems that may not be trained on, as for arena build; may be repeated")
	f.target.Flags(c)
	fl.StringVar(&f.work, "work", "", "folder of the run and of what was built from it (default OUT.work)")
	cli.Jobs(c, &f.workers, "inputs worked on at once")
	fl.BoolVarP(&f.dryRun, "dry-run", "n", false, "print what would be played, and do nothing")
	fl.BoolVar(&f.target.Force, "force", false, "replace an existing corpus; the run in OUT.work is kept")
	fl.BoolVarP(&f.eval.Quiet, "quiet", "q", false, "no progress, no table")
	f.Flags(c)
	f.eval.Add(c)
	cli.Writes(c, "work")
	cli.Stages(c, "output")
	c.AddCommand(newRewrite(s))
	setRecipeHelp(c)
	return c
}

func (f *recipeFlags) plays() bool {
	return f.run == "" && (f.recipe.Rollouts == recipe.Always || f.recipe.Rollouts == recipe.Optional && len(f.eval.Asked.URLs) > 0)
}

func (f *recipeFlags) check() error {
	takes := f.plays() || f.run != ""
	switch {
	case f.corpus == "":
		return cli.Misuse("no corpus given", "name one that `arena build` made with --corpus")
	case f.recipe.Rollouts == recipe.Never && (f.run != "" || len(f.eval.Asked.URLs) > 0):
		return cli.Usage(fmt.Errorf("recipe %s takes no rollouts", f.recipe.Name), "leave out --run and --endpoint")
	case f.plays() && len(f.eval.Asked.URLs) == 0:
		return cli.Usage(fmt.Errorf("recipe %s takes rollouts", f.recipe.Name), "say who plays them by --endpoint and --model, or give a run of `arena eval` by --run")
	case takes && f.eval.Shop.Catalog == "":
		return cli.Misuse("no catalogue given", "name the one that the problems are of with --catalog")
	case f.recipe.Teacher != (f.teacher != ""):
		return cli.Usage(fmt.Errorf("recipe %s and --teacher do not go together so", f.recipe.Name), "steps takes --teacher, the others do not")
	}
	return f.target.Check()
}

func (f *recipeFlags) produce(c *cobra.Command) (err error) {
	if err = f.check(); err != nil {
		return err
	}
	if err = f.target.SetDir(""); err != nil {
		return err
	}
	if f.corpus, err = f.streams.Path(c.Context(), f.corpus); err != nil {
		return err
	}
	if _, err = finish.Open(corpus.Disk{}, f.corpus); err != nil {
		return cli.CorpusError(corpus.Disk{}, f.corpus, err)
	}
	f.work = cmp.Or(f.work, f.target.Dir+pipeline.WorkSuffix)
	if f.dryRun {
		return f.forecast(c)
	}
	done, err := f.target.Acquire(c.Context(), f.streams)
	if done || err != nil {
		return err
	}
	if err = cli.Lock(f.streams, f.work); err != nil {
		return err
	}
	return f.write(c)
}

func (f *recipeFlags) write(c *cobra.Command) error {
	var err error
	input := recipe.Input{Corpus: f.corpus, HeldOut: f.heldOut}
	if f.plays() || f.run != "" {
		if input.Rollouts, err = f.rollouts(c); err != nil {
			return err
		}
	}
	if f.teacher != "" {
		teacher, err := recipe.Named("teacher")
		if err == nil {
			input.Teacher, err = f.build(c, f.teacher, "teacher", teacher)
		}
		if err != nil {
			return err
		}
	}
	return writeRecipe(
		c.Context(),
		f.streams,
		f.recipe,
		input,
		f.work,
		&f.target,
		f.eval.Quiet,
	)
}

// writeRecipe writes the training data that a recipe makes for one stage of training. It prints how
// many rows were read, taken and written unless quiet is set, and uploads the data if the target is
// a bucket.
func writeRecipe(
	ctx context.Context,
	s *cli.Streams,
	r recipe.Recipe,
	input recipe.Input,
	work string,
	target *cli.Target,
	quiet bool,
) error {
	report, err := r.Write(ctx, target.FinishTarget(target.Dir), input, work)
	if report != nil && !quiet {
		for _, c := range report.Counts {
			s.Notef(
				"%-9s %d rows read, %d taken, %d written  %s\n",
				c.Source,
				c.In,
				c.Taken,
				c.Rows,
				corpus.FormatCounts(c.Dropped),
			)
		}
		g := report.Proof.Guard
		s.Notef(
			"guard     %d rows compared with %d protected problems, %d dropped\n",
			g.Rows,
			g.Protected(),
			len(g.Dropped),
		)
		export.ShowCounts(s, report.Exports)
	}
	if err != nil {
		return recipeError(err)
	}
	return target.Publish(ctx)
}

func recipeError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return cli.DefaultHint(err, "a recipe needs the split that `arena build` and `arena mix` pin in bank.json; an import has none, and gets one when it is mixed with a build")
	}
	return err
}

func (f *recipeFlags) forecast(c *cobra.Command) error {
	problems, err := f.problems()
	if err != nil {
		return err
	}
	n := strings.Count(string(problems), "\n")
	s := f.streams.Err
	fmt.Fprintf(s, "recipe %s: %s\n%d training problems\n", f.recipe.Name, f.recipe.Doc, n)
	if f.plays() {
		f.setSampling(c.Flags().Changed)
		fmt.Fprintf(s, "%d rollouts would be played\n", n*f.eval.Played.Samples)
	}
	return nil
}
