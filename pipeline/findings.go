package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Findings contains what the guards of the splits found in the problems themselves.
type Findings struct {
	// Problems has, by the index of the problem, the finding of the guard of its split in the text
	// of the problem. All attempts at the problem share the finding.
	Problems []guard.Finding `json:"problems"`
	// Tiers are the tiers that ran, empty unless embeddings were asked for.
	Tiers []guard.Tier `json:"tiers,omitempty"`
	// NotRun is the reason why a tier did not run, empty if all did.
	NotRun string `json:"not_run,omitempty"`
}

// Embedding starts the guard's last tier, which compares texts with the bank of g by embeddings,
// and records in report that it runs. It returns nil if the endpoint is down and the run may
// continue without the tier. The report then has the reason.
type Embedding func(ctx context.Context, g *guard.Guard, report *guard.Report) (*guard.EmbeddingTier, error)

// checkEmbeddings compares the day's problems with the protected problems by embeddings, after all
// other comparisons, and adds findings to p.Problems. It does nothing if start, which connects to
// the endpoint, is nil.
func (p *Protection) checkEmbeddings(
	ctx context.Context,
	problems *Problems,
	start Embedding,
) error {
	if start == nil {
		return nil
	}
	for _, split := range []string{corpus.SplitEval, corpus.SplitTrain} {
		g := p.Guard(split)
		if g == nil {
			continue
		}
		report := guard.NewReport(g)
		tier, err := start(ctx, g, report)
		if err != nil {
			return err
		}
		p.Tiers = report.Ran
		p.NotRun = cmp.Or(p.NotRun, report.NotRun)
		if tier == nil {
			continue
		}
		if err := p.checkTier(ctx, problems, g, tier); err != nil {
			return err
		}
	}
	return nil
}

// checkTier compares the problems that g guards with the protected problems by tier, which uses
// embeddings, and stores the findings in p.Problems. If the endpoint fails before all were
// compared, it sets p.NotRun to the reason.
func (p *Protection) checkTier(
	ctx context.Context,
	problems *Problems,
	g *guard.Guard,
	tier *guard.EmbeddingTier,
) error {
	var indexes []int
	var candidates []guard.Candidate
	var findings []guard.Finding
	for i, problem := range problems.All {
		if p.guardFor(i) == g {
			indexes = append(indexes, i)
			findings = append(findings, p.Problems[i])
			candidates = append(candidates, guard.Candidate{
				ID:   problems.Name(i),
				Text: problem.Query,
			})
		}
	}
	if err := tier.Check(ctx, candidates, findings); err != nil {
		return fmt.Errorf("compare problems with the bank by embeddings: %w", err)
	}
	if err := tier.Down(); err != nil {
		p.NotRun = cmp.Or(p.NotRun, "embedding: "+err.Error())
	}
	for k, i := range indexes {
		p.Problems[i] = findings[k]
	}
	return nil
}

// digest returns the protected problems of the train split and the findings in the day's problems
// as JSON. Stored results (blocks) depend on both: the guard compares attempts with the protected
// problems, and attempts share the findings in their problems.
func (p *Protection) digest() []byte {
	return asjson.Bytes([]any{
		p.Guard(corpus.SplitTrain).Bank(),
		p.Problems,
	})
}

// PlannedProtection is what the planning process of a build decided about the
// problems. The build's other processes adopt it: the split, the findings in the
// problems, and the quality of the guards.
type PlannedProtection struct {
	// Bank is the split in the format of bank.json.
	Bank json.RawMessage `json:"bank"`
	Findings
	finish.Measurements
}

// plannedProtection returns the split of the problems and the guards' findings in the run's plan,
// nil if the run has no plan.
func (s *session) plannedProtection() *PlannedProtection {
	if s.Terms == nil {
		return nil
	}
	return s.Terms.Protection
}

func (p *Protection) planned() *PlannedProtection {
	return &PlannedProtection{
		Bank:         p.State.Encode(),
		Findings:     p.Findings,
		Measurements: p.Measurements,
	}
}

// readState parses the planned split of the problems into pools. prior has the pools that an
// earlier run and held-out files assign. The error is ErrTerms if the split cannot be read, or if
// it has a problem of prior in another pool.
func (d *PlannedProtection) readState(prior *guard.State) (*guard.State, error) {
	state, err := guard.ReadState(bytes.NewReader(d.Bank))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTerms, err)
	}
	for _, c := range guard.Union(state, prior).Clusters {
		for _, spec := range c.Problems {
			if state.Pool(spec) != c.Pool {
				return nil, fmt.Errorf("%w: problem %s is %s, and its split has it elsewhere", ErrTerms, spec, c.Pool)
			}
		}
	}
	return state, nil
}

// adopt sets the findings and guards of p to the planned ones. It returns ErrTerms if the planned
// split lacks a problem of the day, or has findings in another number of problems.
func (p *Protection) adopt(
	d *PlannedProtection,
	entries finish.ProtectedEntries,
	c guard.Config,
) (err error) {
	if slices.Contains(p.Pools, "") || len(d.Problems) != len(p.Pools) {
		return fmt.Errorf("%w: it was split for other problems", ErrTerms)
	}
	p.Findings = d.Findings
	p.Protection, err = d.NewProtection(entries, c)
	return err
}
