package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/student"
)

// NewCompare makes `arena compare`.
func NewCompare(s *cli.Streams) *cobra.Command {
	var asJSON, anyway bool
	var trainedOn string
	c := &cobra.Command{
		Use:   "compare RUN RUN…",
		Short: "Say whether runs differ, and how sure that is",
		Long: `Compare the first run with each of the others, paired by problem: the difference
with its clustered standard error and bootstrap interval, the exact McNemar test
on sample 0, Holm's adjustment over all comparisons, the smallest difference that
this many problems can show, and how many it takes to show the one measured.

Runs that differ in problems, harness, scorer or judge are refused by name.`,
		Example: `  serve='go run ./bench/modelserver -day testdata/day -listen 127.0.0.1:8000'   # needs no model
  day='--problems testdata/day/problems.jsonl --catalog testdata/day/catalog.jsonl'
  arena eval --serve "$serve" --endpoint http://127.0.0.1:8000/v1 --model base $day -k 4 -o base
  arena eval --serve "$serve -solves 0.9" --endpoint http://127.0.0.1:8000/v1 --model tuned $day -k 4 -o tuned
  arena compare base tuned
  arena compare base tuned --json`,
		Args: cli.Takes(2, cli.AnyNumber),
		RunE: func(_ *cobra.Command, args []string) error {
			contaminated, err := readIDs(trainedOn)
			if err != nil {
				return err
			}
			all, err := student.Compare(args[0], args[1:], anyway, contaminated)
			if err != nil {
				return compareFailure(err)
			}
			return cli.WriteWhole(s, "-", func(w io.Writer) error { return printComparisons(w, all, asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a comparison")
	c.Flags().BoolVar(&anyway, "anyway", false, "compare runs that differ, on the problems they share; says in what they differ")
	c.Flags().StringVar(&trainedOn, "trained-on", "", trainedOnUsage)
	cli.ReadsFiles(c)
	cli.Reads(c, "trained-on")
	return c
}

func compareFailure(err error) error {
	if errors.Is(err, student.ErrIncomparable) {
		return cli.Usage(err, "evaluate both in the same setting, or say --anyway")
	}
	return cli.Failed(err, "a run is a folder that `arena eval` finished")
}

func printComparisons(w io.Writer, all []student.Comparison, asJSON bool) error {
	for _, c := range all {
		if !asJSON {
			fmt.Fprint(w, c)
			continue
		}
		b, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("encode comparison: %w", err)
		}
		fmt.Fprintf(w, "%s\n", b)
	}
	return nil
}
