package build

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/evaluate"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/recipe"
	"github.com/trajectory-arena/arena/student"
)

func (f *recipeFlags) problemsFile() string { return filepath.Join(f.work, "problems.jsonl") }

func (f *recipeFlags) problems() ([]byte, error) {
	text, threshold, err := recipe.Problems(corpus.Disk{}, f.corpus, f.heldOut)
	f.threshold = threshold
	if errors.Is(err, recipe.ErrNoProblems) {
		err = cli.Failed(err, "build the corpus again with more problems")
	}
	return text, recipeError(err)
}

// writeProblems writes the file of training problems unless the file already has this content, so
// that an interrupted run finds its inputs unchanged.
func (f *recipeFlags) writeProblems() error {
	text, err := f.problems()
	if err != nil {
		return err
	}
	if err = os.MkdirAll(f.work, 0o755); err != nil {
		return cli.Failed(fmt.Errorf("create folder of work: %w", err), "another one: --work DIR")
	}
	if old, err := os.ReadFile(f.problemsFile()); err == nil && bytes.Equal(old, text) {
		return nil
	}
	return corpus.WriteFile(corpus.Disk{}, f.problemsFile(), text)
}

func (f *recipeFlags) rollouts(c *cobra.Command) (string, error) {
	if err := f.writeProblems(); err != nil {
		return "", err
	}
	run := f.run
	if f.plays() {
		run = filepath.Join(f.work, "run")
		f.setSampling(c.Flags().Changed)
		f.eval.Problems, f.eval.Out = f.problemsFile(), run
		f.eval.Judge = instrument.JudgeChoice{
			Name: "gates",
			LLM:  instrument.DefaultLLMFlags(),
		}
		if err := evaluate.Run(c.Context(), f.streams, &f.eval); err != nil {
			return "", err
		}
	}
	return f.build(c, run, "rollouts", f.recipe)
}

// setSampling sets the sampling parameters of the rollouts to those of the recipe, except those
// that the user set. changed reports whether the user set the flag with a name.
func (f *recipeFlags) setSampling(changed func(string) bool) {
	usual := f.recipe.Sampling
	played := &f.eval.Played
	if !changed("samples") {
		played.Samples = usual.Samples
	}
	if usual.Temperature > 0 && played.Sampling.Temperature == nil {
		played.Sampling.Temperature = &usual.Temperature
	}
	if usual.TopP > 0 && played.Sampling.TopP == nil {
		played.Sampling.TopP = &usual.TopP
	}
	f.recipe.Sampling.Samples = played.Samples
}

// build builds a corpus from the rollouts of a run. It uses only the training problems of the
// recipe's own corpus, and so the same split into training and evaluation. It returns the folder of
// the new corpus, name within the work folder.
func (f *recipeFlags) build(
	c *cobra.Command,
	run, name string,
	r recipe.Recipe,
) (string, error) {
	if err := f.writeProblems(); err != nil {
		return "", err
	}
	spec, err := student.ReadFinished(run)
	if err != nil {
		return "", cli.Failed(err, "a run is a folder that `arena eval` finished; the command that began it goes on with it")
	}
	b := &buildFlags{streams: f.streams}
	as := cli.Command("build", "", nil, nil)
	b.register(as)
	b.Settings, b.noisy.Quiet, b.workers = f.Settings, f.eval.Quiet, f.workers
	b.target.Name, b.work = filepath.Join(f.work, name), filepath.Join(f.work, name+".work")
	b.sources = pipeline.Sources{
		Problems: []string{f.problemsFile()},
		Catalogs: []string{f.eval.Shop.Catalog},
		HeldOut:  f.heldOut,
		Bank:     filepath.Join(f.corpus, corpus.BankName),
	}
	b.defaults = func(config *pipeline.Config) {
		config.Harness, config.Guard.Drop = spec.Harness, f.threshold
		r.Configure(config)
	}
	as.SetContext(c.Context())
	err = b.build(as, []string{run})
	if errors.Is(err, choose.ErrEmpty) {
		err = cli.Failed(fmt.Errorf("build rollouts: %w", err), emptyHint(run))
	}
	return b.target.Name, err
}

// emptyHint returns the hint for the error that none of a run's rollouts became a training row. It
// says how many rollouts were solved, if the summary of the run has that, and how to get more.
func emptyHint(run string) string {
	const more = "draw more samples with -k"
	summary, err := student.ReadSummary([]string{run}, nil)
	if err != nil {
		return more
	}
	if summary.Successes == 0 {
		return "the model solved no training problem; " + more
	}
	solved := cli.Counted(summary.Successes, "rollout was solved and dropped", "rollouts were solved and dropped")
	return solved + ": docs/reasons.md explains the reasons; " + more
}
