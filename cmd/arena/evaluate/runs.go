package evaluate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/comparison"
	"github.com/trajectory-arena/arena/student/rollout"
)

// NewCompare returns `arena compare`.
func NewCompare(s *cli.Streams) *cobra.Command {
	o := comparison.Options{MinCoverage: usualCoverage}
	var asJSON bool
	var trainedOn string
	c := cli.Command("compare RUN RUN…", "Test whether runs differ; RUN,RUN pools runs with other seeds", cli.NumArgs(2, cli.AnyNumber),
		func(_ *cobra.Command, args []string) (err error) {
			if o.Contaminated, err = readTrainedOn(trainedOn); err != nil {
				return err
			}
			folders, err := student.Opened(args, s.Temporary)
			if err != nil {
				return cli.Failed(err, cli.RunHint)
			}
			comparisons, err := comparison.Compare(folders, o)
			if err != nil {
				return cli.DefaultHint(err, cli.RunHint)
			}
			for _, c := range comparisons {
				if err := checkTrainedOn(o.Contaminated, c.Compared()); err != nil {
					return err
				}
			}
			return cli.WriteWhole(s, "-", func(w io.Writer) error {
				if o.Series && !asJSON {
					fmt.Fprint(w, comparison.Curve(comparisons))
				}
				return printComparisons(w, comparisons, asJSON)
			})
		})
	flags := c.Flags()
	flags.BoolVar(&asJSON, "json", false, "write one JSON object per comparison")
	flags.BoolVar(&o.Anyway, "anyway", false, "compare runs that differ in other settings, on the problems they share, and say in what they differ")
	flags.BoolVar(&o.Series, "series", false, "treat the runs as a series, such as checkpoints: compare each with the next, and draw the curve")
	cli.Share(c, &o.MinCoverage, "min-coverage", "share of each run's rollouts that must be scored")
	cli.Share(c, &o.Margin, "margin", "difference that does not matter: test whether the runs are equal within it")
	cli.File(c, &trainedOn, "trained-on", trainedOnUsage)
	cli.ReadsFiles(c)
	return c
}

func printComparisons(
	w io.Writer,
	comparisons []comparison.Comparison,
	asJSON bool,
) error {
	if !asJSON {
		err := comparison.WriteSeries(w, comparisons)
		for _, c := range comparisons {
			fmt.Fprint(w, "\n", c)
		}
		return err
	}
	lines := json.NewEncoder(w)
	for _, c := range comparisons {
		if err := lines.Encode(c); err != nil {
			return fmt.Errorf("write comparison: %w", err)
		}
	}
	return nil
}

// NewResults returns `arena results`.
func NewResults(s *cli.Streams) *cobra.Command {
	var out, hub string
	var byProblem bool
	c := cli.Command("results RUN… -o F", "Write the rollouts of runs as lines; runs with other seeds count as one run", cli.NumArgs(1, cli.AnyNumber), func(c *cobra.Command, args []string) error {
		folders, err := student.Opened(args, s.Temporary)
		if err != nil {
			return cli.Failed(err, cli.RunHint)
		}
		if hub != "" {
			return writeHubResult(c.Context(), s, out, hub, folders)
		}
		return cli.WriteWhole(s, out, func(w io.Writer) (err error) {
			lines := json.NewEncoder(w)
			if byProblem {
				err = student.EachProblem(folders, func(p *student.ProblemResult) error {
					return lines.Encode(p)
				})
			} else {
				err = student.EachPooled(folders, func(r *rollout.Result) error {
					return lines.Encode(r)
				})
			}
			return cli.DefaultHint(err, cli.RunHint)
		})
	})
	cli.Out(c, &out)
	cli.ReadsFiles(c)
	c.Flags().BoolVar(&byProblem, "by-problem", false, "one line per problem: samples, successes, rate, and whether it is flaky")
	c.Flags().StringVar(&hub, "hub", "", "write the success rate as a file of .eval_results for the Hub; ORG/DATASET/TASK names the benchmark")
	return c
}

// writeHubResult writes the success rate of the runs in folders to the file out, in the Hugging
// Face Hub's format of evaluation results. benchmark is ORG/DATASET/TASK. It returns an error
// instead if less than usualCoverage (98 %) of the rollouts were scored, since such a rate could
// mislead.
func writeHubResult(ctx context.Context, s *cli.Streams, out, benchmark string, folders []string) error {
	parts := strings.Split(benchmark, "/")
	if len(parts) != 3 {
		return cli.Usage(fmt.Errorf("--hub %q is not ORG/DATASET/TASK", benchmark), "TASK is an id of the dataset's eval.yaml, often default")
	}
	groups, err := student.ReadGroups(ctx, folders[0])
	if err != nil {
		return cli.DefaultHint(err, cli.RunHint)
	}
	summary, err := student.ReadSummary(folders, groups)
	switch {
	case err != nil:
		return cli.DefaultHint(err, cli.RunHint)
	case summary.ASRScored == nil || summary.Coverage < usualCoverage:
		return cli.Limit(fmt.Errorf("no result: %d of %d rollouts were scored, fewer than %.2f of them, or the run has no rate", summary.Scored, summary.Samples, usualCoverage), "`arena eval --retry-infra` continues what failed")
	}
	return cli.WriteWhole(s, out, func(w io.Writer) error {
		_, err := w.Write(student.HubResult(summary, parts[0]+"/"+parts[1], parts[2]))
		return err
	})
}
