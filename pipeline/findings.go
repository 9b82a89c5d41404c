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

// Findings are what the guards find in the problems.
type Findings struct {
	// Problems holds, by position, what the guard of its split finds in the problem
	// itself: all attempts at it share that.
	Problems []guard.Finding `json:"problems"`
	// Tiers are those that ran, where embeddings were asked for; empty otherwise. NotRun
	// says why one did not.
	Tiers  []guard.Tier `json:"tiers,omitempty"`
	NotRun string       `json:"not_run,omitempty"`
}

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
		if p.Tiers, p.NotRun = note.Ran, cmp.Or(p.NotRun, note.NotRun); tier != nil {
			if err := p.addMeanings(ctx, ps, g, tier); err != nil {
				return err
			}
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
			at, findings = append(at, i), append(findings, p.Problems[i])
			candidates = append(candidates, guard.Candidate{ID: ps.Name(i), Text: q.Query})
		}
	}
	if err := tier.Check(ctx, candidates, findings); err != nil {
		return fmt.Errorf("compare problems with the bank by embeddings: %w", err)
	}
	if err := tier.Down(); err != nil {
		p.NotRun = cmp.Or(p.NotRun, "embedding: "+err.Error())
	}
	for k, i := range at {
		p.Problems[i] = findings[k]
	}
	return nil
}

// digest names all that is protected and what was found of it in the problems:
// attempts are held against the one and share the other, so their blocks depend
// on both.
func (p *Protection) digest() []byte {
	return asjson.Bytes([]any{p.Guard(corpus.SplitTrain).Bank(), p.Problems})
}

// Decided is what one process found out of a build's problems, so that the others
// take it over: their split, and what the guards find in them and of themselves.
type Decided struct {
	// Bank is the split as bank.json has it.
	Bank json.RawMessage `json:"bank"`
	Findings
	finish.Measured
}

// decided is what the run's plan says; nil of a run without one.
func (s *session) decided() *Decided {
	if s.Terms == nil {
		return nil
	}
	return s.Terms.Protection
}

func (p *Protection) decided() *Decided {
	return &Decided{Bank: p.State.Encode(), Findings: p.Findings, Measured: p.Measured}
}

// keeping is the split, which may open nothing that prior protects.
func (d *Decided) keeping(prior *guard.State) (*guard.State, error) {
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

// take takes over what was found of the problems. None may be missing in the split.
func (p *Protection) take(d *Decided, all finish.Protected, c guard.Config) (err error) {
	if slices.Contains(p.Pools, "") || len(d.Problems) != len(p.Pools) {
		return fmt.Errorf("%w: it was split for other problems", ErrTerms)
	}
	p.Findings = d.Findings
	p.Protection, err = d.Protect(all, c)
	return err
}
