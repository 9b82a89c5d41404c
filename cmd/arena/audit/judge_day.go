package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/judgements"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/judges/shop/probe"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

type judgeDay struct {
	cli.Scan
	*instrument.Judges
	flags    *judgeFlags
	domains  *domain.Set
	progress *cli.Display
}

func (d *judgeDay) attempts(
	ctx context.Context,
	days []string,
	emit func(*arena.Trace) error,
) error {
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
	tally := &judgeTally{
		outcomes: map[arena.JudgeOutcome]int{},
		doubts:   map[arena.JudgeDoubt]int{},
		needs:    map[arena.Need]int{},
		why:      map[string]int{},
	}
	var before ledger.Bill
	if d.Models != nil {
		before = d.Models.Ledger.Bill()
	}
	err := cli.WriteWhole(d.Streams, d.Out, func(w io.Writer) error {
		return d.inOrder(ctx, days, tally, w)
	})
	d.progress.Done()
	if err != nil {
		return err
	}
	d.Unread.Warn(d.Streams.Err)
	if !d.Noisy.Quiet {
		d.Unread.Print(d.Streams.Err)
		tally.print(d.Streams.Err)
		d.printBill(before)
	}
	if err := tally.verdict(d.MaxUnscored); err != nil {
		return err
	}
	return d.Unread.Tally.CheckShare(d.Reading.MaxUnreadable)
}

func (d *judgeDay) inOrder(
	ctx context.Context,
	days []string,
	tally *judgeTally,
	w io.Writer,
) error {
	read := func(ctx context.Context, emit func(*arena.Trace) error) error {
		return d.attempts(ctx, days, emit)
	}
	return pipeline.ProcessAttempts(ctx, d.Workers, read, d.one, func(j *judged) error {
		tally.count(j)
		if _, err := w.Write(j.line); err != nil {
			return fmt.Errorf("write judgements: %w", err)
		}
		return nil
	})
}

// judged is the result of judging one attempt (one agent run at one problem): the judgement, the
// labels of its steps if --steps is set, and line, the JSON line to print.
type judged struct {
	arena.StepJudgement
	judgeable bool
	// stopped is the limit, such as the budget, at which the requests ended, nil if there was none.
	stopped error
	line    []byte
}

// one returns the judgement on an attempt. If the money or the time that may be spent on requests
// to models is used up, the judgement has no score, and there is no error: the run can then finish,
// and the next run judges the attempt.
func (d *judgeDay) one(ctx context.Context, t *arena.Trace) (*judged, error) {
	defer d.progress.Attempt()
	dialogue := filters.Normalise(t)
	thinking := filters.MeasureThinking(t, &dialogue)
	j := &judged{}
	if d.flags.steps {
		j.judgeable = llm.HasSteps(&dialogue)
		j.StepJudgement, j.stopped = d.judgeSteps(ctx, t, &dialogue, &thinking)
	} else {
		j.judgeable = llm.Judgeable(t, &dialogue)
		j.Judgement, j.stopped = d.judgeAttempt(ctx, t, &dialogue, &thinking)
	}
	if j.stopped != nil && !leavesRest(j.stopped) {
		return nil, j.stopped
	}
	line := judgements.Line(t, j.Judgement)
	if d.flags.steps {
		line = judgements.StepsLine(t, &j.StepJudgement)
	}
	j.line = append([]byte(cli.WithoutSecrets(string(line))), '\n')
	return j, nil
}

// isMeasured reports whether an instrument may be used on attempts of a domain (a kind of tasks). An
// offline judge is used only in domains in which its version was measured and is good enough. Models
// are asked in every domain, since the user chose them.
func (d *judgeDay) isMeasured(found *domain.Domain, what, version string) bool {
	return d.Asks || found.On(what, version)
}

// judgeAttempt returns the judge's answer on an attempt. The judge grades the agent's thinking. If
// a program and not a model wrote that thinking, or the judge was not measured on the attempt's
// domain, it is not asked, and the outcome says so.
func (d *judgeDay) judgeAttempt(
	ctx context.Context,
	t *arena.Trace,
	dialogue *arena.Dialogue,
	thinking *filters.Thinking,
) (arena.Judgement, error) {
	found := d.domains.Recognise(t, dialogue, domain.Base)
	judge, name := judges.JudgeIn(found, d.Judge, d.Is.Name)
	if !d.isMeasured(found, domain.Judge, name) {
		return judges.NotMeasured(name), nil
	}
	if thinking.IsForeign {
		return judges.Unsaid(name, *thinking.Unsaid), nil
	}
	j, _, err := judges.Ask(ctx, judge, t, &thinking.Graded, thinking.Logged)
	return j, err
}

// judgeSteps returns the answer of the judge of single steps on an attempt. The judge reads the
// agent's thinking, and is not asked where judgeAttempt does not ask.
func (d *judgeDay) judgeSteps(
	ctx context.Context,
	t *arena.Trace,
	dialogue *arena.Dialogue,
	thinking *filters.Thinking,
) (arena.StepJudgement, error) {
	found := d.domains.Recognise(t, dialogue, domain.Base)
	judge, name := judges.StepsIn(found, d.Steps, d.StepsIs.Name)
	if !d.isMeasured(found, domain.Steps, name) {
		return arena.StepJudgement{Judgement: judges.NotMeasured(name)}, nil
	}
	if thinking.IsForeign {
		return arena.StepJudgement{Judgement: judges.Unsaid(name, *thinking.Unsaid)}, nil
	}
	return judge.Steps(ctx, t, &thinking.Graded)
}

// leavesRest reports whether err means that the budget or the time for requests is used up. This is
// no failure of the run: the next run judges the remaining attempts.
func leavesRest(err error) bool {
	return errors.Is(err, llm.ErrBudget) || errors.Is(err, llm.ErrDeadline)
}

func (d *judgeDay) probe(
	ctx context.Context,
	w io.Writer,
	days []string,
	n int,
) error {
	attempts, err := d.sample(ctx, days, n)
	if err != nil {
		return err
	}
	var shifts [][]probe.Shift
	measure := func(ctx context.Context, t *arena.Trace) ([]probe.Shift, error) {
		dialogue := filters.Normalise(t)
		thinking := filters.MeasureThinking(t, &dialogue)
		judge, _ := judges.JudgeIn(d.domains.Recognise(t, &dialogue, domain.Base), d.Judge, d.Is.Name)
		return probe.Measure(ctx, judge.Judge, t, &thinking.Graded)
	}
	err = inorder.List(ctx, d.Workers, attempts, measure, func(s []probe.Shift) error {
		shifts = append(shifts, s)
		return nil
	})
	if err != nil {
		return err
	}
	return d.writeProbes(w, shifts)
}

// sample returns up to n attempts that a judge can grade: those with a dialogue whose thinking a
// model wrote, of a domain on which the judge was measured. It chooses the attempts whose ids have
// the smallest hashes, so that the choice does not depend on the order of inputs. It returns an
// error if there is no such attempt.
func (d *judgeDay) sample(
	ctx context.Context,
	days []string,
	n int,
) ([]*arena.Trace, error) {
	var sample []*arena.Trace
	err := d.attempts(ctx, days, func(t *arena.Trace) error {
		if !t.HasDialogue {
			return nil
		}
		dialogue := filters.Normalise(t)
		found := d.domains.Recognise(t, &dialogue, domain.Base)
		if !d.isMeasured(found, domain.Judge, d.Is.Name) || filters.MeasureThinking(t, &dialogue).IsForeign {
			return nil // no judge is asked about it
		}
		if sample = append(sample, t); len(sample) >= 2*n {
			sample = lowest(sample, n)
		}
		return nil
	})
	sample = lowest(sample, n)
	if err == nil && len(sample) == 0 {
		err = cli.Failed(errors.New("no attempt that the judge can grade could be read"), "a grade needs a dialogue, a model's thinking and a domain on which the judge was measured; --domain NAME sets another domain")
	}
	return sample, err
}

func lowest(attempts []*arena.Trace, n int) []*arena.Trace {
	slices.SortFunc(attempts, func(a, b *arena.Trace) int {
		return cmp.Or(
			cmp.Compare(choose.Key(a.ID), choose.Key(b.ID)),
			cmp.Compare(a.RecordSHA256, b.RecordSHA256),
		)
	})
	return slices.Clone(attempts[:min(n, len(attempts))])
}

func (d *judgeDay) writeProbes(w io.Writer, shifts [][]probe.Shift) error {
	summaries := make([]probe.Summary, len(probe.All()))
	for i, p := range probe.All() {
		summaries[i] = probe.Summarise(p.Name, slicesx.Map(shifts, func(s []probe.Shift) probe.Shift {
			return s[i]
		}))
	}
	if lifted := probe.LiftWarning(summaries); lifted != "" {
		d.Streams.Notef("warning: %s\n", lifted)
	}
	for i, p := range probe.All() {
		summary := summaries[i]
		if !d.Noisy.Quiet {
			d.Streams.Notef("%s: %d of %d raised, %d lowered, %+.3f in the mean (%s)\n",
				p.Name, summary.Raised, summary.N, summary.Lowered, summary.MeanShift, p.Doc)
		}
		if err := json.NewEncoder(w).Encode(summary); err != nil {
			return fmt.Errorf("write probes: %w", err)
		}
	}
	return nil
}
