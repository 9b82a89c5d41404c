package evaluate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/environment"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/traces"
)

// payFlags are the flags of env reward.
type payFlags struct {
	shop          catalogFlags
	pay           rewardFlags
	problems, out string
	reading       cli.Reading
	workers       int
	noisy         cli.Noise
}

func newEnvReward(s *cli.Streams) *cobra.Command {
	f := &payFlags{}
	c := &cobra.Command{
		Use:   "reward DAY… --problems F --catalog F -o F",
		Short: "Pay finished trajectories as env serve does",
		Long: `Pay finished trajectories: one line of JSON per attempt, in input order, with the reward,
its components, which sum to it, the subnet's score, the judge's grade and the flags of
habits that are after the reward alone. An attempt of no known problem has no reward
and says so. A running arena env serve takes one trajectory at POST /reward.`,
		Example: `  arena env reward testdata/day --problems testdata/day/problems.jsonl \
    --catalog testdata/day/catalog.jsonl --reward dense -o -`,
		Args: cli.Takes(1, cli.AnyNumber),
		RunE: func(c *cobra.Command, days []string) error { return f.run(c.Context(), s, days) },
	}
	f.shop.add(c)
	f.pay.add(c)
	f.reading.Register(c)
	f.noisy.Flags(c)
	c.Flags().StringVar(&f.problems, "problems", "", "problems: JSON lines, or one JSON array")
	c.Flags().StringVarP(&f.out, "output", "o", "-", "output file; - is standard output")
	c.Flags().IntVarP(&f.workers, "jobs", "j", runtime.NumCPU(), "workers")
	cli.ReadsDays(c)
	cli.Reads(c, "problems")
	cli.Replaces(c, "output")
	return c
}

func (f *payFlags) run(ctx context.Context, s *cli.Streams, days []string) error {
	if f.workers < 1 {
		return cli.Usage(fmt.Errorf("-j is %d", f.workers), "give at least one worker")
	}
	problems, err := student.ReadProblems(f.problems)
	if err != nil {
		return cli.Failed(err, "--problems names JSON lines or one JSON array, each with the reward that it is scored by")
	}
	local, err := f.shop.open(ctx)
	if err != nil {
		return err
	}
	defer local.Catalog.Close() //nolint:errcheck // only read
	payer, err := f.pay.payer(problems.All, local.Catalog)
	if err != nil {
		return err
	}
	inputs, err := s.DayInputs(ctx, days)
	if err != nil {
		return err
	}
	var all cli.Unread
	err = cli.WriteWhole(s, f.out, func(w io.Writer) error { return f.lines(ctx, s, payer, inputs, &all, w) })
	if err != nil {
		return err
	}
	return all.Within(f.reading.MaxUnreadable)
}

// paidPart is what became of one input.
type paidPart struct {
	lines        bytes.Buffer
	paid, solved int
	unread       cli.Unread
}

func (f *payFlags) lines(ctx context.Context, s *cli.Streams, payer *environment.Payer, inputs []traces.Input, all *cli.Unread, w io.Writer) error {
	progress := f.noisy.Progress(s)
	defer progress.Done()
	progress.Begin("reward", len(inputs))
	n, solved := 0, 0
	err := pipeline.Inputs(ctx, inputs, f.workers, func(ctx context.Context, in *traces.Input) (*paidPart, error) {
		defer progress.Finished(in.Bytes)
		part := &paidPart{}
		opt := traces.Defaults()
		opt.RunID = f.reading.RunID
		return part, part.unread.Read(ctx, in, opt, func(t *arena.Trace) error {
			progress.Attempt()
			return part.add(ctx, payer, t)
		})
	}, func(p *paidPart) error {
		all.Join(p.unread)
		n, solved = n+p.paid, solved+p.solved
		_, err := p.lines.WriteTo(w)
		return err
	})
	if err != nil {
		return err
	}
	all.Warn(s.Err)
	if n == 0 {
		return cli.Failed(errors.New("no attempt could be paid"), "DAY holds attempts at the problems of --problems")
	}
	if !f.noisy.Quiet {
		fmt.Fprintf(s.Err, "%d attempts paid, %d of them successes\n", n, solved)
		all.Tell(s.Err)
	}
	return nil
}

func (p *paidPart) add(ctx context.Context, payer *environment.Payer, t *arena.Trace) error {
	line, err := payer.Trajectory(ctx, t)
	if err != nil {
		return cli.Failed(err, "titles could not be embedded: start the endpoint, or leave --embeddings out")
	}
	names := cli.NamesOf(t)
	line.RunID, line.ProblemID, line.Error = names.RunID, names.ProblemID, cli.WithoutSecrets(line.Error)
	e := json.NewEncoder(&p.lines)
	e.SetEscapeHTML(false)
	if err = e.Encode(line); err != nil {
		return fmt.Errorf("encode reward: %w", err)
	}
	if line.Reward != nil {
		p.paid++
	}
	if line.Success {
		p.solved++
	}
	return nil
}
