package foreign

import (
	"context"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/traces"
)

// record is one record of an input: a trace, or the fault of a record that cannot be read.
type record struct {
	fault *traces.Fault
	trace *arena.Trace
	// reason is the reason for which the reader drops the trace, empty if it does not.
	reason string
}

// reader reads the records of an import. It must not be used by several goroutines at
// once.
type reader struct {
	*Import
	emit    func(record, int64) error
	inputs  []corpus.Input
	records map[string]bool // the hashes of records
	// refused counts the records in unsupported formats by the name of the format.
	refused    map[string]int64
	tally      traces.Tally
	cut        []string // the names of files that ended early
	ids        traces.Collisions
	collisions int64
	// waiting are prompts without an answer and answers without a prompt.
	waiting      []*arena.Trace
	waitingBytes int
}

// read passes on the records of all inputs, with their sizes in bytes, by calling emit. The inputs
// are ordered by content and never by path. Prompts and answers that are separate records are
// joined after the last input.
func (r *reader) read(ctx context.Context, emit func(record, int64) error) error {
	r.emit = emit
	inputs := slices.Clone(r.Inputs)
	if err := pipeline.HashInputs(ctx, r.Workers, inputs); err != nil {
		return err
	}
	inputs = pipeline.SortedInputs(inputs)
	options := traces.Options{Limits: r.Limits, RunID: r.RunID}
	for i, in := range inputs {
		summary, err := traces.Read(ctx, in, options, r.add)
		if err != nil {
			return err
		}
		r.tally.Add(summary)
		if summary.Cut {
			r.cut = append(r.cut, in.Title())
		}
		r.inputs = append(r.inputs, corpus.Input{
			Kind:    corpus.InputTraces,
			SHA256:  in.SHA256,
			Bytes:   in.Bytes,
			Records: int64(summary.Traces + summary.Faults),
		})
		if r.Progress != nil {
			r.Progress(pipeline.Event{
				Stage: stageRead,
				Done:  i + 1,
				Total: len(inputs),
				Bytes: in.Bytes,
			})
		}
	}
	return r.join()
}

// add passes on a trace, or the fault of a record that cannot be read. It stores a trace that is
// only a prompt or only an answer, to be joined later. A copy of an earlier record is passed on
// with a reason, for which it is dropped.
func (r *reader) add(item traces.Item) error {
	if f := item.Fault; f != nil {
		if f.Reason == traces.UnsupportedSchema {
			r.refused[f.Detail]++
		}
		return r.emit(record{fault: f}, 0)
	}
	t := item.Trace
	if r.records[t.RecordSHA256] {
		return r.emitTrace(t, reasonCopied)
	}
	r.records[t.RecordSHA256] = true
	if r.ids.Add(t.ID, t.RecordSHA256) {
		r.collisions++
	}
	if r.canWait(t) {
		r.waitingBytes += t.Bytes
		r.waiting = append(r.waiting, t)
		return nil
	}
	return r.emitTrace(t, "")
}

// emitTrace passes a trace on to the next stage of the import. If reason is not empty, that stage
// drops the trace for this reason.
func (r *reader) emitTrace(t *arena.Trace, reason string) error {
	return r.emit(record{
		trace:  t,
		reason: reason,
	}, int64(t.Bytes))
}
