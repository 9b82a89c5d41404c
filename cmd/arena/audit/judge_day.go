package audit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/judges/judgements"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/pipeline"
)

type judgeDay struct {
	cli.Scan
	*instrument.Judges
	flags    *judgeFlags
	progress *cli.Display
}

func (d *judgeDay) attempts(ctx context.Context, days []string, emit func(*arena.Trace) error) error {
	inputs, err := d.Streams.DayInputs(ctx, days)
	if err != nil {
		return err
	}
	d.progress.Begin(d.Name, 0)
	for i := range inputs {
		var notRead cli.Unread
		err := notRead.Read(ctx, &inputs[i], d.Options(), emit)
		d.Unread.Join(notRead)
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *judgeDay) lines(ctx context.Context, days []string) error {
	tally := newJudgeTally()
	before := d.bill()
	err := cli.WriteWhole(d.Streams, d.Out, func(w io.Writer) error { return d.inOrder(ctx, days, tally, w) })
	d.progress.Done()
	if err != nil {
		return err
	}
	d.Unread.Warn(d.Streams.Err)
	if !d.Noisy.Quiet {
		d.Unread.Tell(d.Streams.Err)
		tally.print(d.Streams.Err)
		d.printBill(before)
	}
	if err := tally.verdict(d.MaxUnscored); err != nil {
		return err
	}
	return d.Unread.Within(d.Reading.MaxUnreadable)
}

func (d *judgeDay) inOrder(ctx context.Context, days []string, tally *judgeTally, w io.Writer) error {
	read := func(ctx context.Context, emit func(*arena.Trace) error) error {
		return d.attempts(ctx, days, emit)
	}
	judge := func(ctx context.Context, t *arena.Trace) ([]byte, error) {
		defer d.progress.Attempt()
		return d.one(ctx, t, tally)
	}
	return pipeline.Attempts(ctx, d.Workers, read, judge, func(line []byte) error {
		if _, err := w.Write(line); err != nil {
			return fmt.Errorf("write judgements: %w", err)
		}
		return nil
	})
}

// one judges an attempt. A spent budget leaves the attempt for the next run and
// lets this one finish with what is known already.
func (d *judgeDay) one(ctx context.Context, t *arena.Trace, tally *judgeTally) ([]byte, error) {
	dialogue := filters.Normalise(t)
	if d.flags.steps {
		return d.oneByStep(ctx, t, &dialogue, tally)
	}
	j, err := d.Judge.Judge(ctx, t, &dialogue)
	if err != nil && !leavesRest(err) {
		return nil, err
	}
	tally.count(llm.Judgeable(t, &dialogue), j, err)
	b, err := judgements.Append(nil, t, j)
	return line(b), err
}

func (d *judgeDay) oneByStep(ctx context.Context, t *arena.Trace, dialogue *arena.Dialogue, tally *judgeTally) ([]byte, error) {
	j, err := d.Steps.Steps(ctx, t, dialogue)
	if err != nil && !leavesRest(err) {
		return nil, err
	}
	tally.count(llm.HasSteps(dialogue), j.Judgement, err)
	tally.countSteps(j.Steps)
	b, err := judgements.AppendSteps(nil, t, &j)
	return line(b), err
}

// leavesRest reports whether an error leaves what is missing to the next run.
func leavesRest(err error) bool {
	return errors.Is(err, llm.ErrBudget) || errors.Is(err, llm.ErrDeadline)
}

func line(b []byte) []byte { return append([]byte(cli.WithoutSecrets(string(b))), '\n') }
