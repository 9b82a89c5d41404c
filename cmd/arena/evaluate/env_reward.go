package evaluate

import (
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
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/traces"
)

type payFlags struct {
	cli.DayFlags
	shop     catalogFlags
	pay      rewardFlags
	problems string
}

func newEnvReward(s *cli.Streams) *cobra.Command {
	f := &payFlags{}
	c := cli.Command("reward DAY… --problems F --catalog F -o F", "Pay finished trajectories as env serve does", cli.Takes(1, cli.AnyNumber),
		func(c *cobra.Command, days []string) error { return f.run(c.Context(), s, days) })
	f.shop.add(c)
	f.pay.add(c)
	f.Register(c, runtime.NumCPU(), "workers")
	f.Noisy.Flags(c)
	c.Flags().StringVar(&f.problems, "problems", "", "problems: JSON lines, or one JSON array")
	cli.Reads(c, "problems")
	return c
}

func (f *payFlags) run(ctx context.Context, s *cli.Streams, days []string) error {
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
	d := cli.Scan{DayFlags: &f.DayFlags, Name: "reward", Streams: s, Limits: traces.DefaultLimits()}
	err = cli.WriteWhole(s, f.Out, func(w io.Writer) error {
		all, bad := cli.Scanned(ctx, &d, inputs, func(ctx context.Context, t *arena.Trace) (environment.Line, error) {
			line, lost := payer.Trajectory(ctx, t)
			if lost != nil {
				lost = cli.Failed(lost, "titles could not be embedded: start the endpoint, or leave --embeddings out")
			}
			return line, lost
		})
		if bad != nil {
			return bad
		}
		return f.lines(s, w, all)
	})
	if err != nil {
		return err
	}
	return d.Unread.Within(f.Reading.MaxUnreadable)
}

func (f *payFlags) lines(s *cli.Streams, w io.Writer, all []environment.Line) error {
	paid, solved := 0, 0
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, line := range all {
		line.RunID, line.ProblemID, line.Error = cli.WithoutSecrets(line.RunID), cli.WithoutSecrets(line.ProblemID), cli.WithoutSecrets(line.Error)
		if err := e.Encode(line); err != nil {
			return fmt.Errorf("write rewards: %w", err)
		}
		if line.Reward != nil {
			paid++
		}
		if line.Success {
			solved++
		}
	}
	if paid == 0 {
		return cli.Failed(errors.New("no attempt could be paid"), "DAY holds attempts at the problems of --problems")
	}
	if !f.Noisy.Quiet {
		fmt.Fprintf(s.Err, "%d attempts paid, %d of them successes\n", paid, solved)
	}
	return nil
}
