package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
)

// Embedding starts the guard's embedding tier over g's bank and notes in the
// report that it runs. Nil where the endpoint is down and the run may go on
// without it; the report then says why.
type Embedding func(ctx context.Context, g *guard.Guard, report *guard.Report) (*guard.EmbeddingTier, error)

// compareMeanings holds the day's problems against the banks by embeddings, as
// the last tier: it adds findings and clears none.
func (p *Protection) compareMeanings(ctx context.Context, ps *Problems, start Embedding) error {
	if start == nil {
		return nil
	}
	for _, split := range []string{corpus.SplitEval, corpus.SplitTrain} {
		g := p.Guard(split)
		if g == nil {
			continue
		}
		note := guard.NewReport(g)
		tier, err := start(ctx, g, note)
		if err != nil {
			return err
		}
		p.tiers, p.notRun = note.Ran, cmp.Or(p.notRun, note.NotRun)
		if tier == nil {
			continue
		}
		if err := p.addMeanings(ctx, ps, g, tier); err != nil {
			return err
		}
	}
	return nil
}

func (p *Protection) addMeanings(ctx context.Context, ps *Problems, g *guard.Guard, tier *guard.EmbeddingTier) error {
	var at []int
	var candidates []guard.Candidate
	var findings []guard.Finding
	for i, q := range ps.All {
		if p.guardOf(i) == g {
			at = append(at, i)
			candidates = append(candidates, guard.Candidate{ID: ps.Name(i), Text: q.Query})
			findings = append(findings, p.problem[i])
		}
	}
	if err := tier.Check(ctx, candidates, findings); err != nil {
		return fmt.Errorf("compare problems with the bank by embeddings: %w", err)
	}
	if err := tier.Down(); err != nil {
		p.notRun = cmp.Or(p.notRun, "embedding: "+err.Error())
	}
	for k, i := range at {
		p.problem[i] = findings[k]
	}
	return nil
}

// digest names all that is protected and what was found of it in the problems:
// attempts are held against the one and share the other, so their blocks depend
// on both.
func (p *Protection) digest() ([]byte, error) {
	b, err := json.Marshal([]any{p.Guard(corpus.SplitTrain).Bank(), p.problem})
	if err != nil {
		return nil, fmt.Errorf("encode protection: %w", err)
	}
	return b, nil
}
