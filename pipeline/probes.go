package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/probe"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// ProbesReport is how far a judge's grades move where they should not.
type ProbesReport struct {
	// Every says that one in so many attempts of this build was probed; 0 where
	// the figures were measured apart from it.
	Every  int             `json:"every"`
	Probes []probe.Summary `json:"probes"`
}

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

// addShifts notes what the probes did to one attempt.
func (c *reporter) addShifts(x *block.Entry) {
	for _, stored := range x.Shifts {
		s := probe.Shift{Probe: stored.Probe, Judge: x.Judgement.Judge, Problem: x.Attempt.ProblemID}
		if stored.By != nil {
			s.Scored, s.By = true, *stored.By
		}
		c.shifts[s.Probe] = append(c.shifts[s.Probe], s)
	}
}

// probesReport sums up the probes of this build, or passes on those that were
// measured apart; nil without either.
func (c *reporter) probesReport(every int, apart []probe.Summary) *ProbesReport {
	if len(apart) > 0 {
		return &ProbesReport{Probes: apart}
	}
	if len(c.shifts) == 0 {
		return nil
	}
	r := &ProbesReport{Every: every}
	for _, p := range probe.All() {
		r.Probes = append(r.Probes, probe.Summarise(p.Name, c.shifts[p.Name]))
	}
	return r
}

// text is what the probes showed as the dataset card has it.
func (r *ProbesReport) text() string {
	if r == nil {
		return "\nHow far empty words, orders or copies move it was not measured: no attempt was drawn, and --judge-probes gave no figures.\n"
	}
	var b strings.Builder
	b.WriteString("\nHow far its score moves where it should not, ")
	if r.Every > 0 {
		fmt.Fprintf(&b, "on one in %d attempts of these days", r.Every)
	} else {
		b.WriteString("measured apart from this build")
	}
	b.WriteString(" (95 % intervals; the mean's is clustered by problem):\n\n| probe | n | raised | lowered | share raised | mean shift |\n|---|---:|---:|---:|---|---|\n")
	for _, p := range r.Probes {
		mean := fmt.Sprintf("%+.3f", p.MeanShift)
		if p.CI95 != nil {
			mean += fmt.Sprintf(" [%+.3f, %+.3f]", p.CI95[0], p.CI95[1])
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | [%.3f, %.3f] | %s |\n", cell(p.Probe), p.N, p.Raised, p.Lowered, p.RaisedWilson95[0], p.RaisedWilson95[1], mean)
	}
	doc := probe.All()
	lines := make([]string, 0, len(doc))
	for _, p := range doc {
		if slices.ContainsFunc(r.Probes, func(s probe.Summary) bool { return s.Probe == p.Name }) {
			lines = append(lines, p.Name+": "+p.Doc)
		}
	}
	return b.String() + "\n" + strings.Join(lines, "; ") + ".\n"
}
