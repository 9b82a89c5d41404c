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

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/judges/probe"
)

// sampled is an attempt with the place that chance gave it.
type sampled struct {
	place [sha256.Size]byte
	trace *arena.Trace
}

// probe tries the judge on n attempts and writes one line per probe.
func (d *judgeDay) probe(ctx context.Context, days []string, n int) error {
	return cli.WriteWhole(d.streams, d.flags.out, func(w io.Writer) error { return d.probeTo(ctx, w, days, n) })
}

func (d *judgeDay) probeTo(ctx context.Context, w io.Writer, days []string, n int) error {
	attempts, err := d.sample(ctx, days, n)
	if err != nil {
		return err
	}
	shifts := make([][]probe.Shift, len(attempts))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(d.workers)
	for i, a := range attempts {
		g.Go(func() error {
			dialogue := filters.Normalise(a.trace)
			measured, err := probe.Measure(ctx, d.judge, a.trace, &dialogue)
			shifts[i] = measured
			if leavesRest(err) {
				return cli.Limit(err, "run the same command again: only what is missing will be asked")
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return explainJudge(err)
	}
	return d.writeProbes(w, shifts)
}

// sample takes the n attempts whose ids hash lowest, whatever their order.
func (d *judgeDay) sample(ctx context.Context, days []string, n int) ([]sampled, error) {
	var all []sampled
	err := d.attempts(ctx, days, newJudgeTally(), func(t *arena.Trace) error {
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
	for i, p := range probe.All() {
		var of []probe.Shift
		for _, s := range shifts {
			of = append(of, s[i])
		}
		summary := probe.Summarise(p.Name, of)
		if !d.flags.quiet {
			fmt.Fprintf(d.streams.Err, "%s: %d of %d raised, %d lowered, %+.3f in the mean (%s)\n",
				p.Name, summary.Raised, summary.N, summary.Lowered, summary.MeanShift, p.Doc)
		}
		line, err := json.Marshal(summary)
		if err != nil {
			return fmt.Errorf("encode probe: %w", err)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write probes: %w", err)
		}
	}
	return nil
}
