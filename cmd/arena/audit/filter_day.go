package audit

import (
	"context"
	"fmt"
	"io"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/report/attempt"
	"github.com/trajectory-arena/arena/traces"
)

type filterDay struct {
	cli.Scan
	flags  *filterFlags
	filter *filters.Filter
	// inputs are those of the days, where they were opened already.
	inputs []traces.Input
	// each, where set, sees every trace while it is in memory, and may note
	// something on what stays of it; inputs run side by side.
	each func(ctx context.Context, t *arena.Trace, f *filtered) error
}

// filtered is what the filter keeps of one attempt until its agent's day is
// known. head holds the names of the trace and nothing else of it.
type filtered struct {
	filters.Checked
	head      arena.Trace
	structure arena.Structure
	// day is what the agent's whole day shows.
	day *habits.Agent
	// success is the outcome, known to --reweight alone.
	success bool
	// story is of the attempt that --explain names, and of its copies.
	story *attempt.Story
}

// read makes the first pass over all inputs, then the second, and returns the
// attempts in input order.
func (d *filterDay) read(ctx context.Context, days []string) ([]filtered, error) {
	if d.inputs == nil {
		var err error
		if d.inputs, err = d.Streams.DayInputs(ctx, days); err != nil {
			return nil, err
		}
	}
	all, err := cli.Scanned(ctx, &d.Scan, d.inputs, func(ctx context.Context, t *arena.Trace) (f filtered, err error) {
		f = d.check(t)
		if d.each != nil {
			err = d.each(ctx, t, &f)
		}
		return f, err
	})
	if err == nil {
		d.secondPass(all)
	}
	return all, err
}

func (d *filterDay) check(t *arena.Trace) filtered {
	dialogue := filters.Normalise(t)
	f := filtered{Checked: filters.Checked{ID: t.ID, Record: t.RecordSHA256, Agent: filters.AgentOf(t.Agent, t.RunID)}}
	f.structure, f.Sample = d.filter.Check(t, &dialogue)
	f.head = arena.Trace{ID: t.ID, RunID: t.RunID, ProblemID: t.ProblemID, Agent: t.Agent, HasDialogue: t.HasDialogue}
	return f
}

func (d *filterDay) secondPass(all []filtered) {
	checked := make([]*filters.Checked, len(all))
	for i := range all {
		checked[i] = &all[i].Checked
	}
	habits := d.filter.Day(checked)
	for i := range all {
		f := &all[i]
		f.day = habits.Agents[f.Agent]
		f.structure = d.filter.Revise(f.structure, f.Sample, f.day)
	}
}

func (d *filterDay) lines(ctx context.Context, w io.Writer, days []string) error {
	all, err := d.read(ctx, days)
	if err != nil {
		return err
	}
	if err := d.summary(all); err != nil {
		return err
	}
	var line []byte
	for i := range all {
		line = filters.AppendLine(line[:0], cli.NamesOf(&all[i].head), all[i].structure)
		if _, err := w.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write verdicts: %w", err)
		}
	}
	return nil
}

func (d *filterDay) summary(all []filtered) error {
	kept := 0
	axes := map[arena.Axis]int{}
	for i := range all {
		axes[all[i].structure.Axis]++
		if all[i].structure.Keep {
			kept++
		}
	}
	return d.Say(len(all), "%d attempts: %d agentic, %d scripted, %d unknown; %d kept\n",
		len(all), axes[arena.AxisAgentic], axes[arena.AxisScripted], axes[arena.AxisUnknown], kept)
}
