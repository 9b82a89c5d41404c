package evaluate

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/rollout"
)

// NewResults makes `arena results`.
func NewResults(s *cli.Streams) *cobra.Command {
	var out string
	var byProblem bool
	c := &cobra.Command{
		Use:   "results RUN -o F",
		Short: "The rollouts of a run as lines",
		Long:  `Write one JSON line a rollout, in the order of problems and samples.`,
		Example: `  arena eval --serve 'go run ./bench/modelserver -day testdata/day -listen 127.0.0.1:8000' \
    --endpoint http://127.0.0.1:8000/v1 --model student \
    --problems testdata/day/problems.jsonl --catalog testdata/day/catalog.jsonl -k 4 -o run
  arena results run -o results.jsonl
  arena results run --by-problem -o - | grep '"flaky":true'`,
		Args: cli.Takes(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return cli.WriteWhole(s, out, func(w io.Writer) error { return printResults(w, args[0], byProblem) })
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "-", "output file; - is standard output")
	cli.ReadsFiles(c)
	cli.Replaces(c, "output")
	c.Flags().BoolVar(&byProblem, "by-problem", false, "one line a problem: samples, successes, rate, whether it is flaky")
	return c
}

func printResults(w io.Writer, run string, byProblem bool) error {
	lines := json.NewEncoder(w)
	var err error
	if byProblem {
		err = student.EachProblem(run, func(p *student.ProblemResult) error { return lines.Encode(p) })
	} else {
		err = student.EachResult(run, func(r *rollout.Result) error { return lines.Encode(r) })
	}
	if err != nil {
		return cli.Failed(err, "a run is a folder that `arena eval` finished")
	}
	return nil
}
