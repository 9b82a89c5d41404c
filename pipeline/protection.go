package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Protection says which problems may be trained on, and finds those that may
// not in whatever an attempt holds.
type Protection struct {
	State *guard.State
	// Pools and Clusters are by position in Problems.
	Pools    []guard.Pool
	Clusters []string
	// Outside counts the entries of held-out files.
	Outside int
	*finish.Protection
	Findings
}

// The names of the run's own banks in findings.
const (
	bankEval       = "own-eval"
	bankHeldOut    = "own-held-out"
	bankNeverTouch = "own-never-touch"
)

// protect splits the day's problems and indexes what is protected, or takes over
// what was decided, nil for nothing. It fails closed: a bank that cannot be read, or a
// canary that is not caught, is an error.
func (d *Day) protect(ctx context.Context, src Sources, cfg GuardConfig, decided *Decided) (*Protection, error) {
	prior, err := d.readBank(src.Bank)
	if err != nil {
		return nil, err
	}
	if err = prior.Release(src.Release); err != nil {
		return nil, inputError{err}
	}
	outside, err := d.readHeldOut(src)
	if err != nil {
		return nil, err
	}
	prior = guard.Union(prior, guard.HoldOut(outside))
	p := &Protection{Outside: len(outside)}
	if decided != nil {
		p.State, err = decided.keeping(prior)
	} else {
		p.State, err = d.split(ctx, src, prior, cfg)
	}
	if err != nil {
		return nil, err
	}
	p.Pools, p.Clusters = slicesx.Map(d.Problems.Specs, p.State.Pool), slicesx.Map(d.Problems.Specs, p.State.ClusterID)
	all, c := p.protected(d.Problems, outside), guard.Config{Drop: cfg.Drop, MaxFalse: cfg.MaxFalse, SameOnly: cfg.SameOnly}
	if decided != nil {
		return p, p.take(decided, all, c)
	}
	err = p.find(ctx, d.Problems, all, c, cfg.Seed)
	if src.Draft && errors.Is(err, guard.ErrEmptyBank) {
		p.Protection, err = &finish.Protection{}, nil
	}
	return p, err
}

// split clusters the day's problems and draws their pools, where prior and the corpora
// that the day's files are of leave them to be drawn.
func (d *Day) split(ctx context.Context, src Sources, prior *guard.State, cfg GuardConfig) (*guard.State, error) {
	clusters, err := guard.Clusters(ctx, d.Problems.All)
	if err != nil {
		return nil, err
	}
	around, err := finish.Around(corpus.Disk{}, d.Inputs)
	if err != nil {
		return nil, err
	}
	known, err := finish.Gather(around, nil)
	if err != nil {
		return nil, err
	}
	state, err := guard.Split(ctx, clusters, guard.Union(prior, known.Protecting()), cfg.Shares, cfg.Seed)
	if err == nil && !src.Draft {
		err = state.CheckPools()
	}
	if err != nil {
		return nil, err
	}
	if still := state.FirstHeldOut(src.Release); still != "" {
		return nil, inputError{fmt.Errorf("release %q: a held-out file or another corpus of the run holds it out", still)}
	}
	return state, nil
}

func (p *Protection) protected(ps *Problems, outside []guard.Entry) finish.Protected {
	never := p.entries(ps, guard.PoolNeverTouch, bankNeverTouch, nil)
	eval := p.entries(ps, guard.PoolEval, bankEval, nil)
	held := p.entries(ps, guard.PoolHeldOut, bankHeldOut, outside)
	return finish.Protected{HeldOut: slices.Concat(outside, held), NeverTouch: never, Eval: eval}
}

func (p *Protection) find(ctx context.Context, ps *Problems, all finish.Protected, c guard.Config, seed uint64) (err error) {
	p.Problems = make([]guard.Finding, len(ps.All))
	if p.Protection, err = finish.Protect(all, c, seed); err != nil {
		return err
	}
	for i, q := range ps.All {
		if err = ctx.Err(); err != nil {
			return err
		}
		if g := p.guardOf(i); g != nil {
			c := guard.Candidate{ID: ps.Name(i), Text: q.Query}
			for _, r := range q.Rewards {
				c.ProductIDs = append(c.ProductIDs, r.ProductID)
			}
			p.Problems[i] = g.Check(c)
		}
	}
	return nil
}

// guardOf is what guards the split that a problem is in, and finds a problem that
// is held out; nil for one that is never to be touched and so is in none.
func (p *Protection) guardOf(problem int) *guard.Guard {
	if p.Pools[problem] == guard.PoolHeldOut {
		return p.Guard(corpus.SplitTrain)
	}
	return p.Guard(splitOf(p.Pools[problem]))
}

// entries are the protected problems of one pool: the day's own with their
// texts, and those that only the bank of an earlier day knows. given are there
// already.
func (p *Protection) entries(ps *Problems, pool guard.Pool, bank string, given []guard.Entry) []guard.Entry {
	var out []guard.Entry
	texts, specs := map[string]bool{}, map[string]bool{}
	for i := range given {
		texts[given[i].Text], specs[given[i].SpecHash()] = true, true
	}
	for i, of := range p.Pools {
		if of == pool {
			out = append(out, guard.NewEntry(bank, ps.All[i], ps.Name(i)))
			texts[ps.All[i].Query] = true
		}
	}
	spec := func(hash string) bool { return specs[hash] || ps.HasSpec(hash) }
	return append(out, p.State.ProtectedIn(pool, bank, spec, func(text string) bool { return texts[text] })...)
}

// readBank reads the bank that an earlier run pinned; without one it is that of
// a day on which nothing was held out.
func (d *Day) readBank(path string) (state *guard.State, err error) {
	if path == "" {
		return guard.HoldOut(nil), nil
	}
	err = d.readFile(kindBank, path, func(r io.Reader) (int, error) {
		if state, err = guard.ReadState(r); err != nil {
			return 0, err
		}
		return len(state.Clusters), nil
	})
	if err != nil {
		return nil, inputError{err}
	}
	return state, nil
}

// readHeldOut reads the held-out banks and notes what is in them. A folder of banks is
// named by the entries in it, since it has no bytes of its own.
func (d *Day) readHeldOut(src Sources) (all []guard.Entry, err error) {
	paths := append(found(nil, src.Days, "held_out*.jsonl"), src.HeldOut...)
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		entries, err := guard.ReadBank(path)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
		if info, lost := os.Stat(path); lost == nil && info.IsDir() {
			d.Files = append(d.Files, File{corpus.Input{Kind: kindHeldOut, SHA256: guard.Digest(entries), Records: int64(len(entries))}, path})
			continue
		}
		if err = d.readFile(kindHeldOut, path, func(io.Reader) (int, error) { return len(entries), nil }); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (d *Day) heldOutDigests() []string {
	return slicesx.FilterMap(d.Files, func(f File) (string, bool) { return f.SHA256, f.Kind == kindHeldOut })
}
