package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/traces"
)

type judgeFlags struct {
	cli.DayFlags
	choice  instrument.JudgeChoice
	dryRun  bool
	probe   int
	explain string
	labels  string
	steps   bool
}

// attemptsAtOnce is how many attempts wait for a model, for their turn or after a
// failure: waiting costs no core, and little memory.
const attemptsAtOnce = 4 * instrument.ModelsAtOnce

// NewJudge is the command that judges how attempts reasoned.
func NewJudge(s *cli.Streams) *cobra.Command {
	f := judgeFlags{choice: instrument.JudgeChoice{LLM: instrument.DefaultLLMFlags()}}
	c := cli.Command("judge DAY…", "Judge how attempts reasoned, offline or with models", cli.Takes(1, cli.AnyNumber),
		func(c *cobra.Command, days []string) error { return f.run(c, s, days) })
	c.Flags().StringVar(&f.choice.Name, "judge", "gates", "the judge: "+strings.Join(judges.Names(), " or "))
	f.Register(c, 0, fmt.Sprintf("attempts judged at once (default: cores for gates, %d for llm)", attemptsAtOnce))
	c.Flags().BoolVarP(&f.Noisy.Quiet, "quiet", "q", false, "no words on standard error")
	c.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "say how many requests, tokens and dollars judging would cost")
	c.Flags().IntVar(&f.probe, "probe", 0, "probe the judge itself on this many attempts instead: one line per probe")
	c.Flags().StringVar(&f.explain, "explain", "", "take one grade apart: the walk through the gates, with the passages; the ID is RUN/PROBLEM")
	c.Flags().StringVar(&f.labels, "labels", "", "with --explain: labels or judge lines; where they differ is told")
	cli.Reads(c, "labels")
	c.Flags().BoolVar(&f.steps, "steps", false, "judge each step instead: by what it brought to the product recommended, or by --judge llm")
	f.choice.LLM.Settings.Flags(c)
	f.choice.LLM.Add(c)
	return c
}

func (f *judgeFlags) run(c *cobra.Command, s *cli.Streams, days []string) error {
	if f.probe < 0 {
		return cli.Usage(fmt.Errorf("--probe is %d", f.probe), "give the number of attempts to probe the judge on")
	}
	if f.steps && f.probe > 0 {
		return cli.Usage(errors.New("--probe and --steps do not go together"), "probes move a score, and steps have none")
	}
	if f.explain != "" && (f.steps || f.probe > 0 || f.dryRun) || f.labels != "" && f.explain == "" {
		return cli.Usage(errors.New("--explain stands alone, and --labels with it"), "leave --steps, --probe and -n out")
	}
	return f.judge(c.Context(), s, days)
}

func (f *judgeFlags) judge(ctx context.Context, s *cli.Streams, days []string) (err error) {
	if judge, _ := judges.Named(f.choice.Name); judge.AsksModels {
		f.choice.Steps = f.choice.Name // models label steps too
	}
	opened, err := f.choice.Open(s.Err)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if f.dryRun && opened.Models == nil {
		return cli.Usage(errors.New("the offline judge asks no model"), "add --judge llm, or leave out -n")
	}
	switch {
	case f.Workers > 0:
	case opened.Asks:
		f.Workers = attemptsAtOnce
	default:
		f.Workers = runtime.NumCPU()
	}
	day := &judgeDay{Scan: cli.Scan{DayFlags: &f.DayFlags, Name: "judge", Streams: s, Limits: traces.DefaultLimits()}, flags: f, progress: f.Noisy.Progress(s), Judges: opened}
	defer day.progress.Done()
	switch {
	case f.dryRun:
		return day.predict(ctx, days)
	case f.explain != "":
		return day.explain(ctx, days)
	case f.probe > 0:
		return cli.WriteWhole(s, f.Out, func(w io.Writer) error { return day.probe(ctx, w, days, f.probe) })
	}
	return day.lines(ctx, days)
}
