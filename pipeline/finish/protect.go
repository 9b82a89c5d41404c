// Package finish ends the making of every corpus, whoever chose its rows: it
// guards both splits with everything that was ever held out (Protection), reads
// finished corpora back as sources of rows (Source), writes the tables of the
// ledger, and puts parts, bank, reports and card together (Target).
package finish

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
)

// Protection finds in rows what may not be in their split.
type Protection struct {
	// Injection is how well the guard of the train split finds what is planted.
	Injection guard.InjectionReport
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
	never := slices.Concat(all.HeldOut, all.NeverTouch)
	train, err := guard.New(slices.Concat(never, all.Eval), c)
	if err != nil {
		return nil, err
	}
	p := &Protection{Injection: train.Injection(seed), train: train}
	if err = errors.Join(train.Canary(), p.Injection.Validate()); err != nil || len(never) == 0 {
		return p, err
	}
	if p.eval, err = guard.New(never, c); err != nil {
		return nil, err
	}
	return p, p.eval.Canary()
}

// Guard is what guards a split; nil where nothing is to be kept out of it, and
// for a split that is none.
func (p *Protection) Guard(split string) *guard.Guard {
	switch split {
	case corpus.SplitTrain:
		return p.train
	case corpus.SplitEval:
		return p.eval
	default:
		return nil
	}
}

// Check holds what would be in a split against all that may not be in it.
func (p *Protection) Check(split string, c guard.Candidate) guard.Finding {
	if g := p.Guard(split); g != nil {
		return g.Check(c)
	}
	return guard.Finding{}
}
