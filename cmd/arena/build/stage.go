package build

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// allStages is the example of each stage: one needs what the stages before it left.
const allStages = `  arena stage map testdata/day --work w --shard 0/2 -o out
  arena stage map testdata/day --work w --shard 1/2 -o out
  arena stage group testdata/day --work w -o out
  arena stage write testdata/day --work w --shard 0/1 -o out`

// NewStage makes `arena stage`.
func NewStage(s *cli.Streams) *cobra.Command {
	return cli.Family(&cobra.Command{
		Use:   "stage map|group|write DAY… --work DIR --shard i/n -o CORPUS",
		Short: "Run one step of a build, for an engine that has many machines",
		Long: `Stage runs one of the three steps of a build over a folder that all machines
share: map on every shard of the inputs, then group once, then write on every
shard of the output. Each is safe to run again and writes the bytes that
arena build writes. The process that finishes the last shard of write puts the
corpus together.`,
		Example: allStages,
	},
		newStep(s, "map", "Make the blocks of a shard of the inputs", stageMap),
		newStep(s, "group", "Decide what becomes of every attempt", stageGroup),
		newStep(s, "write", "Write a shard of the corpus's files", stageWrite),
	)
}

type step func(c *cobra.Command, f *buildFlags, r *pipeline.Run, s pipeline.Shard) error

func newStep(s *cli.Streams, name, short string, do step) *cobra.Command {
	f := &buildFlags{streams: s, Settings: cli.BuildSettings()}
	var shard string
	c := &cobra.Command{
		Use:     name + " DAY… --work DIR --shard i/n -o CORPUS",
		Short:   short,
		Example: allStages,
		Args:    cli.Takes(1, cli.AnyNumber),
		RunE: func(c *cobra.Command, days []string) error {
			part, err := parseShard(shard)
			if err != nil {
				return err
			}
			return f.with(c, days, func(r *pipeline.Run) error { return do(c, f, r, part) })
		},
	}
	f.register(c)
	c.Flags().StringVar(&shard, "shard", "0/1", "which shard of how many, counting from 0")
	return c
}

func parseShard(s string) (pipeline.Shard, error) {
	var p pipeline.Shard
	index, of, _ := strings.Cut(s, "/")
	var errs [2]error
	p.Index, errs[0] = strconv.Atoi(index)
	p.Of, errs[1] = strconv.Atoi(of)
	if errors.Join(errs[:]...) != nil {
		return p, cli.Usage(fmt.Errorf("shard %q is not of the form i/n", s), "the first of four shards is --shard 0/4")
	}
	if err := p.Validate(); err != nil {
		return p, cli.Usage(err, "the first of four shards is --shard 0/4")
	}
	return p, nil
}

func stageMap(c *cobra.Command, _ *buildFlags, r *pipeline.Run, s pipeline.Shard) error {
	if err := r.Map(c.Context(), s); err != nil {
		return buildError(err)
	}
	return nil
}

func stageGroup(c *cobra.Command, f *buildFlags, r *pipeline.Run, _ pipeline.Shard) error {
	funnel, err := r.Group(c.Context())
	if err != nil {
		return buildError(err)
	}
	if !f.noisy.Quiet {
		choose.PrintFunnel(f.streams.Err, funnel)
	}
	return nil
}

func stageWrite(c *cobra.Command, f *buildFlags, r *pipeline.Run, s pipeline.Shard) error {
	summary, err := r.Write(c.Context(), s)
	if err != nil {
		return f.buildError(summary, err)
	}
	if summary == nil {
		fmt.Fprintln(f.streams.Err, "this shard is written; the process that finishes the last one puts the corpus together")
		return nil
	}
	if err := f.out.Publish(c.Context()); err != nil {
		return err
	}
	f.tell(summary)
	return nil
}
