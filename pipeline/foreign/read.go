package foreign

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/traces"
)

type record struct {
	fault *traces.Fault
	trace *arena.Trace
	// leftOut is the reason for which the trace is no row, where reading shows it.
	leftOut string
}

// reader reads the records of an import, each of them once. It belongs to one
// goroutine.
type reader struct {
	*Import
	emit     func(record, int64) error
	inputs   []corpus.Input
	records  map[string]bool
	refused  map[string]int64
	tally    traces.Tally
	cut      []string
	taken    traces.Collisions
	collided int64
	// waiting are halves of records: prompts and answers that may be to them.
	waiting      []*arena.Trace
	waitingBytes int
}

// read emits the records of all inputs in an order that no path decides.
func (r *reader) read(ctx context.Context, emit func(record, int64) error) error {
	r.emit = emit
	inputs := slices.Clone(r.Inputs)
	if err := pipeline.HashInputs(ctx, r.Workers, inputs); err != nil {
		return err
	}
	slices.SortStableFunc(inputs, func(a, b traces.Input) int {
		return cmp.Or(strings.Compare(a.SHA256, b.SHA256), strings.Compare(a.MetaSHA256, b.MetaSHA256))
	})
	opt := traces.Defaults()
	opt.RunID = r.RunID
	for i, in := range inputs {
		r.tell(pipeline.Event{Stage: stageRead, Done: i, Total: len(inputs)})
		found, err := traces.Read(ctx, in, opt, r.take)
		if err != nil {
			return err
		}
		r.tally.Add(found)
		if found.Cut {
			r.cut = append(r.cut, in.Title())
		}
		r.inputs = append(r.inputs, corpus.Input{Kind: "traces", SHA256: in.SHA256, Bytes: in.Bytes, Records: int64(found.Traces + found.Faults)})
		r.tell(pipeline.Event{Stage: stageRead, Done: i + 1, Total: len(inputs), Bytes: in.Bytes})
	}
	return r.join()
}

func (r *reader) tell(e pipeline.Event) {
	if r.Progress != nil {
		r.Progress(e)
	}
}

func (r *reader) take(item traces.Item) error {
	if f := item.Fault; f != nil {
		if f.Reason == traces.UnsupportedSchema {
			r.refused[f.Detail]++
		}
		return r.emit(record{fault: f}, 0)
	}
	t := item.Trace
	if r.records[t.RecordSHA256] {
		return r.pass(t, "copied_record")
	}
	r.records[t.RecordSHA256] = true
	if r.taken.Add(t.ID, t.RecordSHA256) {
		r.collided++
	}
	if r.waits(t) {
		return nil
	}
	return r.pass(t, "")
}

// pass passes a trace on, left out for the reason unless that is empty.
func (r *reader) pass(t *arena.Trace, reason string) error {
	return r.emit(record{trace: t, leftOut: reason}, int64(t.Bytes))
}
