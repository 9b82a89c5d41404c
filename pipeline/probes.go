package pipeline

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/probe"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// probe tries the judge on an attempt that was drawn for it.
func (m *mapper) probe(ctx context.Context, rec *arena.Record) ([]block.Shift, error) {
	if rec.Judgement.Outcome == "" || !probe.Drawn(rec.Trace.ID, m.probeEvery) {
		return nil, nil
	}
	shifts, err := probe.Against(ctx, m.judge.Judge, &rec.Judgement, rec.Trace, &rec.Dialogue)
	if err != nil {
		return nil, err
	}
	out := make([]block.Shift, 0, len(shifts))
	for _, s := range shifts {
		stored := block.Shift{Probe: s.Probe}
		if s.Scored {
			stored.By = &s.By
		}
		out = append(out, stored)
	}
	return out, nil
}
