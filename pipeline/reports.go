package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

func (s *session) reports(ctx context.Context, p *plan) (*reports.Set, error) {
	found := guard.NewReport(s.protect.Guard(corpus.SplitTrain))
	found.Injection, found.NotRun = &s.protect.Injection, s.protect.NotRun
	if s.protect.Tiers != nil {
		found.Ran = s.protect.Tiers
	}
	all := reports.NewAdder(found)
	for i := range s.day.Inputs {
		m := &s.day.Inputs[i].Meta
		named, _ := s.day.Inputs[i].PathIDs()
		all.Carries(cmp.Or(m.RunID, named), m.Agent.VersionID, m.Findings, m.Attempts)
	}
	err := s.entries(ctx, 1, block.PartFound, func(at ref, x *block.Entry) error {
		f := p.Fates[at.Input][at.Entry]
		if x.Fault == nil && f.Stage != stageRead {
			x.Attempt = *s.attemptRow(x, f) // with its category
			all.Add(x, f)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	leak, err := s.protect.report()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found.Dropped, func(a, b guard.DroppedRow) int { return strings.Compare(a.ID, b.ID) })
	leak.Guard = found
	return &reports.Set{Funnel: p.Funnel, Agents: all.Agents(p.Agents), Judges: s.judges(all, p), Lengths: all.Lengths(), Leak: *leak}, nil
}

func (s *session) judges(all *reports.Adder, p *plan) reports.Judges {
	judge := s.Config.Judge
	r := reports.Judges{
		Judge: judge.Name, Sparing: judge.Sparing, Agreement: s.Agreement,
		Multiplier: reports.Multiplier{Config: s.Config.Multiplier},
	}
	return all.Judges(r, s.Config.StepJudge.Name, p.Replies, p.Runs, s.Probes, judge.ProbeEvery)
}

func (p *Protection) report() (*reports.Leak, error) {
	r := &reports.Leak{
		Clusters: map[guard.Pool]int{}, Problems: map[guard.Pool]int{}, Outside: p.Outside,
		SharedProducts: []string{}, Canary: "caught", Released: p.State.Released(),
	}
	side := map[string]guard.Pool{}
	for _, c := range p.State.Clusters {
		r.Clusters[c.Pool]++
		r.Problems[c.Pool] += len(c.Problems)
		for _, id := range c.ProductIDs {
			if other, seen := side[id]; seen && other != c.Pool {
				r.SharedProducts = append(r.SharedProducts, id)
			}
			side[id] = c.Pool
		}
	}
	if len(r.SharedProducts) > 0 {
		return nil, fmt.Errorf("audit the split: %d products are in clusters of different pools, the first is %s", len(r.SharedProducts), r.SharedProducts[0])
	}
	return r, nil
}
