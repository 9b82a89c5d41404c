package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/rollout"
)

func newResults(s *streams) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:     "results RUN -o F",
		Short:   "The rollouts of a run as lines",
		Long:    `Write one JSON line a rollout, in the order of problems and samples.`,
		Example: `  arena results run -o - | jq -r .label | sort | uniq -c`,
		Args:    exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return writeWhole(s, out, func(w io.Writer) error { return printResults(w, args[0]) })
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "-", "output file; - is standard output")
	return c
}

func printResults(w io.Writer, run string) error {
	err := student.EachResult(run, func(r *rollout.Result) error {
		b, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("encode result: %w", err)
		}
		_, err = w.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return failed(err, "a run is a folder that `arena eval` finished")
	}
	return nil
}
