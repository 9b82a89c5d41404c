package build

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// NewStage makes `arena stage`.
func NewStage(s *cli.Streams) *cobra.Command {
	return cli.Family("stage map|group|write --plan PLAN --work DIR --shard i/n", "Run one step of a build, for an engine that has many machines",
		newStep(s, "map", "Make the blocks of a shard of the inputs", func(ctx context.Context, _ *buildFlags, r *pipeline.Run, s pipeline.Shard) error {
			return kept(r.Map(ctx, s))
		}),
		newStep(s, "group", "Decide what becomes of every attempt", stageGroup),
		newStep(s, "write", "Write a shard of the corpus's files", stageWrite),
	)
}

type step func(ctx context.Context, f *buildFlags, r *pipeline.Run, s pipeline.Shard) error

func newStep(s *cli.Streams, name, short string, do step) *cobra.Command {
	f := &buildFlags{streams: s, Settings: cli.BuildSettings()}
	var work, path, shard string
	var noisy cli.Noise
	c := cli.Command(name+" --plan PLAN --work DIR", short, cli.Takes(0, 0), func(c *cobra.Command, _ []string) error {
		p, err := readPlan(path)
		if err != nil {
			return err
		}
		part := pipeline.Whole
		if name != "group" {
			if part, err = p.shard(shard); err != nil {
				return err
			}
		}
		asks := pipeline.Whole
		if name == "map" {
			asks = part
		}
		return p.with(c.Context(), f, work, noisy, asks, func(r *pipeline.Run) error { return do(c.Context(), f, r, part) })
	})
	c.Flags().StringVar(&path, "plan", "", "what arena build --plan wrote (required)")
	c.Flags().StringVar(&work, "work", "", "folder that all machines share, or the URL of one in a bucket; safe to delete (default CORPUS.work)")
	if name != "group" {
		c.Flags().StringVar(&shard, "shard", "0/1", "which shard of how many, counting from 0")
	}
	noisy.Flags(c)
	cli.Reads(c, "plan")
	cli.Writes(c, "work")
	return c
}

// shard reads i/n, where n is the plan's.
func (p *plan) shard(text string) (s pipeline.Shard, err error) {
	index, of, _ := strings.Cut(text, "/")
	var errs [2]error
	s.Index, errs[0] = strconv.Atoi(index)
	s.Of, errs[1] = strconv.Atoi(of)
	if errors.Join(errs[:]...) != nil {
		err = fmt.Errorf("shard %q is not of the form i/n", text)
	} else if err = s.Validate(); err == nil && s.Of != p.Shards {
		err = fmt.Errorf("shard %s of a plan with %d", text, p.Shards)
	}
	if err != nil {
		return s, cli.Usage(err, fmt.Sprintf("the first is --shard 0/%d", p.Shards))
	}
	return s, nil
}

func stageGroup(ctx context.Context, f *buildFlags, r *pipeline.Run, _ pipeline.Shard) error {
	funnel, err := r.Group(ctx)
	if err != nil {
		return kept(err)
	}
	if !f.noisy.Quiet {
		choose.PrintFunnel(f.streams.Err, funnel)
	}
	return nil
}

func stageWrite(ctx context.Context, f *buildFlags, r *pipeline.Run, s pipeline.Shard) error {
	summary, err := r.Write(ctx, s)
	if err != nil {
		return f.lost(summary, err)
	}
	if summary == nil {
		fmt.Fprintln(f.streams.Err, "this shard is written; the process that finishes the last one puts the corpus together")
		return nil
	}
	err = f.out.Publish(ctx)
	if err == nil && f.shared != nil {
		err = kept(f.shared.Sweep())
	}
	if err != nil {
		return err
	}
	f.tell(summary)
	return nil
}
