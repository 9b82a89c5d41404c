package audit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/judges/probe"
	"github.com/trajectory-arena/arena/pipeline"
)

// sampled is an attempt with the place that chance gave it.
type sampled struct {
	place [sha256.Size]byte
	trace *arena.Trace
}

func (d *judgeDay) probe(ctx context.Context, w io.Writer, days []string, n int) error {
	attempts, err := d.sample(ctx, days, n)
	if err != nil {
		return err
	}
	var shifts [][]probe.Shift
	read := func(_ context.Context, emit func(*arena.Trace) error) error {
		for _, a := range attempts {
			if failed := emit(a.trace); failed != nil {
				return failed
			}
		}
		return nil
	}
	err = pipeline.Attempts(ctx, d.Workers, read, d.measure, func(s []probe.Shift) error { shifts = append(shifts, s); return nil })
	if err != nil {
		return err
	}
	return d.writeProbes(w, shifts)
}

func (d *judgeDay) measure(ctx context.Context, t *arena.Trace) ([]probe.Shift, error) {
	dialogue := filters.Normalise(t)
	return probe.Measure(ctx, d.Judge.Judge, t, &dialogue)
}

// sample takes the n attempts whose ids hash lowest, whatever their order.
func (d *judgeDay) sample(ctx context.Context, days []string, n int) ([]sampled, error) {
	var all []sampled
	err := d.attempts(ctx, days, func(t *arena.Trace) error {
		if !t.HasDialogue {
			return nil
		}
		all = append(all, sampled{sha256.Sum256([]byte(t.ID)), t})
		if len(all) >= 2*n {
			all = lowest(all, n)
		}
		return nil
	})
	all = lowest(all, n)
	if err == nil && len(all) == 0 {
		err = cli.Failed(errors.New("no attempt with a dialogue could be read"), "`arena judge --help` says what a DAY is")
	}
	return all, err
}

func lowest(all []sampled, n int) []sampled {
	slices.SortFunc(all, func(a, b sampled) int {
		return cmp.Or(bytes.Compare(a.place[:], b.place[:]), cmp.Compare(a.trace.RecordSHA256, b.trace.RecordSHA256))
	})
	return slices.Clone(all[:min(n, len(all))])
}

func (d *judgeDay) writeProbes(w io.Writer, shifts [][]probe.Shift) error {
	all := make([]probe.Summary, len(probe.All()))
	for i, p := range probe.All() {
		var of []probe.Shift
		for _, s := range shifts {
			of = append(of, s[i])
		}
		all[i] = probe.Summarise(p.Name, of)
	}
	if lifted := probe.Lifted(all); lifted != "" {
		fmt.Fprintf(d.Streams.Err, "warning: %s\n", lifted)
	}
	for i, p := range probe.All() {
		summary := all[i]
		if !d.Noisy.Quiet {
			fmt.Fprintf(d.Streams.Err, "%s: %d of %d raised, %d lowered, %+.3f in the mean (%s)\n",
				p.Name, summary.Raised, summary.N, summary.Lowered, summary.MeanShift, p.Doc)
		}
		if err := json.NewEncoder(w).Encode(summary); err != nil {
			return fmt.Errorf("write probes: %w", err)
		}
	}
	return nil
}
