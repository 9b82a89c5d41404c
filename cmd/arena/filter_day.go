package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/traces"
)

// filterDay runs the filter over days.
type filterDay struct {
	flags   *filterFlags
	filter  *filters.Filter
	streams *streams
	// each, where set, sees every trace while it is in memory, and may note
	// something on what stays of it; inputs run side by side.
	each func(ctx context.Context, t *arena.Trace, f *filtered) error
	// faults counts the records that could not be read, by reason.
	faults map[traces.Reason]int
}

// filtered is what the filter keeps of one attempt until its agent's day is
// known. head holds the names of the trace and nothing else of it.
type filtered struct {
	head      arena.Trace
	agent     string
	structure arena.Structure
	sample    filters.Sample
	// day is what the agent's whole day shows.
	day filters.AgentStats
	// success is the outcome, known to --reweight alone.
	success bool
}

// read makes the first pass over all inputs, then the second, and returns the
// attempts in input order.
func (d *filterDay) read(ctx context.Context, days []string) ([]filtered, error) {
	inputs, cleanUp, err := dayInputs(ctx, d.streams, days)
	defer cleanUp()
	if err != nil {
		return nil, err
	}
	byInput := make([][]filtered, len(inputs))
	faults := make([]map[traces.Reason]int, len(inputs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(d.flags.workers)
	for i := range inputs {
		g.Go(func() error {
			var failed error
			byInput[i], faults[i], failed = d.firstPass(ctx, inputs[i])
			return failed
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	d.faults = map[traces.Reason]int{}
	for _, f := range faults {
		for reason, n := range f {
			d.faults[reason] += n
		}
	}
	all := slices.Concat(byInput...)
	d.secondPass(all)
	return all, nil
}

func (d *filterDay) firstPass(ctx context.Context, in traces.Input) ([]filtered, map[traces.Reason]int, error) {
	if in.SHA256 == "" {
		if err := in.Hash(ctx); err != nil {
			return nil, nil, err
		}
	}
	opt := traces.Defaults()
	opt.RunID = d.flags.runID
	var all []filtered
	faults := map[traces.Reason]int{}
	_, err := traces.Read(ctx, in, opt, func(i traces.Item) error {
		if i.Fault != nil {
			faults[i.Fault.Reason]++
			return nil
		}
		f := d.check(i.Trace)
		if d.each != nil {
			if err := d.each(ctx, i.Trace, &f); err != nil {
				return err
			}
		}
		all = append(all, f)
		return nil
	})
	return all, faults, err
}

func (d *filterDay) check(t *arena.Trace) filtered {
	dialogue := filters.Normalise(t)
	f := filtered{agent: filters.AgentOf(t)}
	f.structure, f.sample = d.filter.Check(t, &dialogue)
	f.head = arena.Trace{ID: t.ID, RunID: t.RunID, ProblemID: t.ProblemID, Agent: t.Agent, HasDialogue: t.HasDialogue}
	return f
}

// secondPass lets each agent's day change the verdicts of its attempts. Of two
// copies of one attempt only one is part of the day.
func (d *filterDay) secondPass(all []filtered) {
	samples := map[string][]filters.Sample{}
	seen := map[string]bool{}
	for i := range all {
		if f := &all[i]; !seen[f.head.ID] {
			seen[f.head.ID] = true
			samples[f.agent] = append(samples[f.agent], f.sample)
		}
	}
	stats := map[string]filters.AgentStats{}
	for agent, s := range samples {
		stats[agent] = d.filter.AgentDay(s)
	}
	for i := range all {
		f := &all[i]
		f.day = stats[f.agent]
		f.structure = d.filter.Revise(f.structure, f.sample, f.day)
	}
}

// lines writes the verdict of every attempt.
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
		line = filters.AppendLine(line[:0], &all[i].head, all[i].structure)
		if _, err := w.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write verdicts: %w", err)
		}
	}
	return nil
}

// summary says what was kept, and what could not be read.
func (d *filterDay) summary(all []filtered) error {
	if !d.flags.quiet {
		kept := 0
		axes := map[arena.Axis]int{}
		for i := range all {
			axes[all[i].structure.Axis]++
			if all[i].structure.Keep {
				kept++
			}
		}
		fmt.Fprintf(d.streams.err, "%d attempts: %d agentic, %d scripted, %d unknown; %d kept\n",
			len(all), axes[arena.AxisAgentic], axes[arena.AxisScripted], axes[arena.AxisUnknown], kept)
		for _, reason := range sortedKeys(d.faults) {
			fmt.Fprintf(d.streams.err, "%d records could not be read: %s\n", d.faults[reason], reason)
		}
	}
	if len(all) == 0 {
		return failed(errors.New("no attempt could be read"), "`arena filter --help` says what a DAY is")
	}
	return nil
}

func sortedKeys(m map[traces.Reason]int) []traces.Reason {
	keys := make([]traces.Reason, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
