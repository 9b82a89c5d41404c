package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	plaintext "github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Protection is the split of the problems, and the guards that find protected problems
// in attempts.
type Protection struct {
	State *guard.State
	// Pools and Clusters are by the index of the problem.
	Pools    []guard.Pool
	Clusters []string
	// Outside is the number of entries of held-out files.
	Outside int
	*finish.Protection
	Findings
}

// The names by which findings refer to the run's own protected problems, one for each pool.
const (
	bankEval       = "own-eval"
	bankHeldOut    = "own-held-out"
	bankNeverTouch = "own-never-touch"
)

// newProtection divides the problems into pools and creates the guards against the protected ones.
// If planned is not nil, the pools and findings of that plan are used. It returns an error if an
// earlier run's pools cannot be read or, without a plan, if a guard misses its canary (a protected
// request planted to test it). A draft, and a corpus of attempts as they were recorded, have no guards
// without protected problems.
func (d *Day) newProtection(
	ctx context.Context,
	src Sources,
	cfg GuardConfig,
	planned *PlannedProtection,
) (*Protection, error) {
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
	if planned != nil {
		p.State, err = planned.readState(prior)
	} else {
		p.State, err = d.split(ctx, src, prior, cfg)
	}
	if err != nil {
		return nil, err
	}
	p.Pools = slicesx.Map(d.Problems.Specs, p.State.Pool)
	p.Clusters = slicesx.Map(d.Problems.Specs, p.State.ClusterID)

	entries := p.protectedEntries(d.Problems, outside)
	guardConfig := guard.Config{
		Drop:     cfg.Drop,
		MaxFalse: cfg.MaxFalse,
		SameOnly: cfg.SameOnly,
	}
	if planned != nil {
		return p, p.adopt(planned, entries, guardConfig)
	}
	err = p.checkProblems(ctx, d.Problems, entries, guardConfig, cfg.Seed)
	if (src.Draft || src.recorded) && errors.Is(err, guard.ErrEmptyBank) {
		p.Protection = &finish.Protection{}
		return p, nil
	}
	return p, err
}

// split assigns a pool to each cluster of similar problems. A cluster keeps the pool that an
// earlier bank or held-out files (prior), or a corpus that contains the input files, assigns to it.
// All others get a random pool, by the configured seed and shares.
func (d *Day) split(
	ctx context.Context,
	src Sources,
	prior *guard.State,
	cfg GuardConfig,
) (*guard.State, error) {
	clusters, err := guard.Clusters(ctx, d.Problems.All)
	if err != nil {
		return nil, err
	}
	enclosing, err := finish.EnclosingCorpora(corpus.Disk{}, d.Inputs)
	if err != nil {
		return nil, err
	}
	var heldOut []string
	if len(enclosing) > 0 { // a public corpus asks for the bank that it withholds
		heldOut = heldOutPaths(src)
	}
	exclusions, err := finish.CollectExclusions(enclosing, heldOut)
	if err != nil {
		return nil, err
	}
	state, err := guard.Split(
		ctx,
		clusters,
		guard.Union(prior, exclusions.ProtectedOnly()),
		cfg.Shares,
		cfg.Seed,
	)
	if err != nil {
		return nil, err
	}
	if !src.Draft && !src.recorded {
		if err = state.CheckPools(); err != nil {
			return nil, err
		}
	}
	if name := state.FirstHeldOut(src.Release); name != "" {
		return nil, inputError{fmt.Errorf("release %q: a held-out file or another corpus of the run holds it out", name)}
	}
	return state, nil
}

// protectedEntries returns the protected problems, with the same content and order as a later
// process reads them from bank.json (the record of each problem's pool), so that the guards of both
// find the same. outside are the problems of held-out files. Each problem keeps its own ID for
// messages.
func (p *Protection) protectedEntries(problems *Problems, outside []guard.Entry) finish.ProtectedEntries {
	entries := finish.ProtectedInBank(p.State, nil)
	names := map[string]guard.Entry{} // the first entry with each request
	for i := range outside {
		if _, ok := names[outside[i].Text]; !ok {
			names[outside[i].Text] = outside[i]
		}
	}
	own := map[guard.Pool]string{
		guard.PoolHeldOut:    bankHeldOut,
		guard.PoolNeverTouch: bankNeverTouch,
		guard.PoolEval:       bankEval,
	}
	for i, pool := range p.Pools {
		text := problems.All[i].Query
		if _, ok := names[text]; !ok && own[pool] != "" {
			names[text] = guard.Entry{ID: problems.Name(i), Bank: own[pool]}
		}
	}

	for pool, list := range map[guard.Pool][]guard.Entry{
		guard.PoolHeldOut:    entries.HeldOut,
		guard.PoolNeverTouch: entries.NeverTouch,
		guard.PoolEval:       entries.Eval,
	} {
		for i := range list {
			list[i].Bank = own[pool]
			if name, ok := names[list[i].Text]; ok {
				list[i].ID = name.ID
				list[i].Bank = name.Bank
			}
		}
	}
	return entries
}

// checkProblems creates the guard of each split, which searches texts for protected problems, and
// checks every problem of the run with the guard of its split. It stores what the guards find in
// p.Problems.
func (p *Protection) checkProblems(
	ctx context.Context,
	problems *Problems,
	entries finish.ProtectedEntries,
	c guard.Config,
	seed uint64,
) (err error) {
	p.Problems = make([]guard.Finding, len(problems.All))
	if p.Protection, err = finish.NewProtection(entries, c, seed); err != nil {
		return err
	}
	for i, q := range problems.All {
		if err = ctx.Err(); err != nil {
			return err
		}
		g := p.guardFor(i)
		if g == nil {
			continue
		}
		candidate := guard.Candidate{ID: problems.Name(i), Text: q.Query}
		for _, r := range q.Rewards {
			candidate.ItemIDs = append(candidate.ItemIDs, r.ProductID)
		}
		p.Problems[i] = g.Check(candidate)
	}
	return nil
}

// guardFor returns the guard with which the problem at this index and its attempts are checked:
// that of its split, train or eval. A held-out problem is checked by the train guard, which finds
// the problem itself. The result is nil for a never-touch problem, and if nothing is protected.
func (p *Protection) guardFor(problem int) *guard.Guard {
	if p.Pools[problem] == guard.PoolHeldOut {
		return p.Guard(corpus.SplitTrain)
	}
	return p.Guard(splitOf(p.Pools[problem]))
}

// readBank reads bank.json, in which an earlier run recorded the pool (such as train or held-out)
// of each problem. For an empty path it returns a record without problems.
func (d *Day) readBank(path string) (state *guard.State, err error) {
	if path == "" {
		return guard.HoldOut(nil), nil
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return nil, inputError{fmt.Errorf("read bank %s: a folder: give its bank.json", path)}
	}
	err = d.readFile(kindBank, path, func(r io.Reader) (int, error) {
		content, readErr := plaintext.ReadAll(r, maxBankBytes)
		if readErr == nil {
			readErr = guard.CheckState(path, content)
		}
		if readErr != nil {
			return 0, readErr
		}
		if state, err = guard.ReadState(bytes.NewReader(content)); err != nil {
			return 0, err
		}
		return len(state.Clusters), nil
	})
	if err != nil {
		return nil, inputError{err}
	}
	return state, nil
}

// maxBankBytes is the maximum number of bytes that are read of a bank.json, the record of the pool
// of each problem. It is larger than the largest valid one.
const maxBankBytes = 65 << 20

// readHeldOut returns the problems in the files that must be held out of training, and adds these
// files to d.Files, the list of the run's inputs. A folder is listed with the hash of its entries,
// because it has no bytes itself.
func (d *Day) readHeldOut(src Sources) ([]guard.Entry, error) {
	var out []guard.Entry
	for _, path := range heldOutPaths(src) {
		entries, err := guard.ReadBank(path)
		if err != nil {
			return nil, err
		}
		out = append(out, entries...)
		if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
			in := corpus.Input{
				Kind:    kindHeldOut,
				SHA256:  guard.Digest(entries),
				Records: int64(len(entries)),
			}
			d.Files = append(d.Files, File{in, path})
			continue
		}
		err = d.readFile(kindHeldOut, path, func(io.Reader) (int, error) {
			return len(entries), nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// heldOutPaths returns the paths of the files that hold out problems: those in the folders of the days,
// and those that the user named.
func heldOutPaths(src Sources) []string {
	paths := append(findFiles(nil, src.Days, "held_out*.jsonl"), src.HeldOut...)
	slices.Sort(paths)
	return slices.Compact(paths)
}

func (d *Day) heldOutDigests() []string {
	return slicesx.FilterMap(d.Files, func(f File) (string, bool) {
		return f.SHA256, f.Kind == kindHeldOut
	})
}
