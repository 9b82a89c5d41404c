// Package finish ends the making of every corpus, whoever chose its rows: it
// guards both splits with everything that was ever held out (Protection), reads
// finished corpora back as sources of rows (Source), writes the tables of the
// ledger, and puts parts, bank, reports and card together (Target).
package finish

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
)

// surely is the least lexical score of a leak in a corpus that is made: which rows a
// build leaves out is its configuration's and its version's. No bank raises it further.
const surely = 0.5

// Leaks calls found for each row of the train split that is of a protected cluster,
// or in which the guard finds what is protected. An attempt is looked at once,
// however many rows are made of it.
func (k *Known) Leaks(ctx context.Context, s *Source, found func(id, evidence string)) error {
	if k.Bank == nil {
		return nil
	}
	all := InBank(k.Bank, k.HeldOut)
	g, err := guard.New(slices.Concat(all.HeldOut, all.NeverTouch, all.Eval), guard.Config{MinDrop: max(surely, k.Least), MaxFalse: 1})
	if errors.Is(err, guard.ErrEmptyBank) {
		return nil
	}
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	look := func(row *Seen) error {
		fresh := len(row.Sessions) == 0
		for _, session := range row.Sessions {
			fresh = fresh || !seen[session]
			seen[strings.Clone(session)] = true // a row's texts live as long as its batch
		}
		if !fresh {
			return ctx.Err()
		}
		if pool := k.Bank.Pool(row.Cluster); pool != "" && pool != guard.PoolTrain {
			found(row.Candidate.ID, fmt.Sprintf("its cluster is %s", pool))
		} else if f := g.Check(row.Candidate); f.Drop {
			found(row.Candidate.ID, f.Evidence)
		}
		return ctx.Err()
	}
	return InTurn(
		func() error { return eachRow[rows.SFT](s, corpus.ProfileHFJSON, look) },
		func() error { return eachRow[rows.RL](s, corpus.ProfileVerlRL, look) },
		func() error { return eachRow[rows.KTO](s, corpus.ProfileKTO, look) },
		func() error { return eachRow[rows.Pref](s, corpus.ProfilePref, look) },
		func() error { return eachRow[rows.Steps](s, corpus.ProfileStepwise, look) },
	)
}

func eachRow[T any](s *Source, profile string, see func(*Seen) error) error {
	return Rows(s, profile, corpus.SplitTrain, func(row *T) error {
		seen, err := Look(row)
		if err != nil {
			return err
		}
		return see(&seen)
	})
}

// twins finds the clusters of sources that ask for what is protected and are not yet
// protected themselves.
type twins struct {
	guard *guard.Guard
	bank  *guard.State
	// asked is what the rows of each cluster ask for, and match the protected
	// clusters of that.
	asked map[string]*guard.StateCluster
	match map[string][]string
}

// joinTwins joins clusters of the sources' rows with the protected ones for which
// the guard would drop one of their requests.
func (k *Known) joinTwins(sources []*Source) error {
	g, err := guard.New(k.Bank.Protected(""), guard.Config{MinDrop: k.Least})
	if errors.Is(err, guard.ErrEmptyBank) {
		return nil
	}
	if err != nil {
		return err
	}
	t := twins{guard: g, bank: k.Bank, asked: map[string]*guard.StateCluster{}, match: map[string][]string{}}
	for _, s := range sources {
		for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
			if err = t.read(s, split); err != nil {
				return err
			}
		}
	}
	found := &guard.State{}
	for name, protected := range t.match {
		if b, bad := hex.DecodeString(name); bad != nil || len(b) != 32 {
			return fmt.Errorf("cluster %q, which asks for what is protected, is no sha256", name)
		}
		c := t.asked[name]
		c.Problems = append(protected, name)
		found.Clusters = append(found.Clusters, *c)
	}
	k.Bank = guard.Union(k.Bank, found)
	return nil
}

func (t *twins) read(s *Source, split string) error {
	return errors.Join(
		Rows(s, corpus.ProfileHFJSON, split, func(r *rows.SFT) error { return t.look(&r.Origin, r.Goal) }),
		Rows(s, corpus.ProfileVerlRL, split, func(r *rows.RL) error { return t.look(&r.Origin, rows.Request(r.Prompt), r.GoldProducts()...) }),
		Rows(s, corpus.ProfilePref, split, func(r *rows.Pref) error { return t.look(&r.Origin, rows.Request(r.Prompt)) }),
		Rows(s, corpus.ProfileKTO, split, func(r *rows.KTO) error { return t.look(&r.Origin, rows.Request(r.Prompt)) }),
	)
}

// look holds a request that was not seen in its cluster yet against all that is
// protected. The bank has the requests of protected clusters as they were asked; a row's
// prompt may hold more, such as a world's greeting, which says nothing of a problem.
func (t *twins) look(of *rows.Origin, request string, gold ...string) error {
	if pool := t.bank.Pool(of.Cluster); pool != "" && pool != guard.PoolTrain {
		return nil
	}
	c := t.asked[of.Cluster]
	if c == nil {
		c = &guard.StateCluster{}
		t.asked[strings.Clone(of.Cluster)] = c // a row's texts live as long as its batch
	}
	if slices.Contains(c.Texts, request) && (len(gold) == 0 || slices.Contains(c.ProductIDs, gold[0])) {
		return nil
	}
	c.Texts = append(c.Texts, strings.Clone(request))
	for _, id := range gold {
		c.ProductIDs = append(c.ProductIDs, strings.Clone(id))
	}
	if f := t.guard.Check(guard.Candidate{Text: request, ProductIDs: gold}); f.Drop {
		cluster := strings.Clone(of.Cluster)
		t.match[cluster] = append(t.match[cluster], f.Match)
	}
	return nil
}

// Measured is what Protect finds of its guards, and another process that guards
// against the same takes over.
type Measured struct {
	// Injection is how well the guard of the train split finds what is planted.
	Injection guard.InjectionReport `json:"injection"`
	// Train and Eval are what honest rows the guards of the splits cost.
	Train guard.FalseDrops `json:"train"`
	Eval  guard.FalseDrops `json:"eval"`
}

// Protection finds in rows what may not be in their split.
type Protection struct {
	Measured
	// train guards against all that is protected, eval against what others hold
	// out and what is never to be touched; nil where that is nothing.
	train, eval *guard.Guard
}

// Protected are the problems that may not be trained on: those of held-out files,
// or that a bank has held out before, and those of the two pools that a bank keeps
// from training.
type Protected struct{ HeldOut, NeverTouch, Eval []guard.Entry }

// InBank are the protected problems of a bank beside those of held-out files.
func InBank(bank *guard.State, heldOut []guard.Entry) Protected {
	none := func(string) bool { return false }
	texts, specs := map[string]bool{}, map[string]bool{}
	for i := range heldOut {
		texts[heldOut[i].Text], specs[heldOut[i].SpecHash()] = true, true
	}
	kept := bank.ProtectedIn(guard.PoolHeldOut, "held-out", func(spec string) bool { return specs[spec] }, func(text string) bool { return texts[text] })
	names := map[string]string{}
	for _, c := range bank.Clusters {
		if len(c.HeldOut) > 0 {
			names[c.ID] = strings.Join(c.HeldOut, ", ")
		}
	}
	for i := range kept {
		kept[i].ID = cmp.Or(names[kept[i].ID], kept[i].ID)
	}
	return Protected{
		HeldOut:    append(slices.Clip(heldOut), kept...),
		NeverTouch: bank.ProtectedIn(guard.PoolNeverTouch, "never-touch", none, none),
		Eval:       bank.ProtectedIn(guard.PoolEval, "eval", none, none),
	}
}

// Protect indexes what is protected. It fails closed: nothing to protect, a
// canary that is not caught, or requests planted in other clothes that are found
// too rarely, are errors.
func Protect(all Protected, c guard.Config, seed uint64) (*Protection, error) {
	p, err := guards(all, c, c)
	if err != nil {
		return nil, err
	}
	p.Measured = Measured{p.train.Injection(seed), p.train.FalseDrops(), p.eval.FalseDrops()}
	return p, errors.Join(p.Canary(), p.Injection.Validate())
}

// Protect takes over what another process measured of the same, and indexes
// only what is asked for: whoever asks begins with Canary.
func (m Measured) Protect(all Protected, c guard.Config) (*Protection, error) {
	train, eval := c, c
	train.Precomputed, eval.Precomputed = &m.Train, &m.Eval
	p, err := guards(all, train, eval)
	if err == nil {
		p.Measured = m
	}
	return p, err
}

func guards(all Protected, train, eval guard.Config) (p *Protection, err error) {
	p, never := &Protection{}, slices.Concat(all.HeldOut, all.NeverTouch)
	if p.train, err = guard.New(slices.Concat(never, all.Eval), train); err == nil && len(never) > 0 {
		p.eval, err = guard.New(never, eval)
	}
	return p, err
}

// Canary fails if a guard lets pass what it is to find.
func (p *Protection) Canary() error { return errors.Join(p.train.Canary(), p.eval.Canary()) }

// Guard is what guards a split; nil where nothing is to be kept out of it, and
// for a split that is none.
func (p *Protection) Guard(split string) *guard.Guard {
	if split == corpus.SplitTrain {
		return p.train
	}
	if split == corpus.SplitEval {
		return p.eval
	}
	return nil
}

// Check holds what would be in a split against all that may not be in it.
func (p *Protection) Check(split string, c guard.Candidate) guard.Finding {
	if g := p.Guard(split); g != nil {
		return g.Check(c)
	}
	return guard.Finding{}
}
