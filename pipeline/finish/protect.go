// Package finish has the last steps that all corpora share. It guards the splits
// against everything that was ever held out (Protection), reads finished corpora as
// sources of rows (Source), writes the tables of the ledger, and assembles parts,
// bank, reports and card into a corpus (Target).
package finish

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
)

// Measurements are the measured quality of a Protection's guards. Another process
// that guards against the same problems may reuse them.
type Measurements struct {
	// Injection is the result of planting protected requests for the train guard.
	Injection guard.InjectionReport `json:"injection"`
	// Honest is the result of checking the project's honest requests by the train guard.
	Honest guard.HonestReport `json:"honest"`
	// Train and Eval are the honest rows that the guards of the splits would drop.
	Train guard.FalseDrops `json:"train"`
	Eval  guard.FalseDrops `json:"eval"`
}

// Protection finds problems in rows that may not be in their split.
type Protection struct {
	Measurements
	// train guards against everything protected, eval against held-out and
	// never-touch problems. A guard is nil if there is nothing to guard against.
	train *guard.Guard
	eval  *guard.Guard
}

// ProtectedEntries are the problems that may not be trained on.
type ProtectedEntries struct {
	// HeldOut are the problems of held-out files, and those that a bank has held out
	// before.
	HeldOut []guard.Entry
	// NeverTouch and Eval are the problems of these pools of a bank.
	NeverTouch []guard.Entry
	Eval       []guard.Entry
}

// ProtectedInBank returns the protected problems of a bank together with the entries
// of held-out files.
func ProtectedInBank(bank *guard.State, heldOut []guard.Entry) ProtectedEntries {
	none := func(string) bool { return false }
	texts := map[string]bool{}
	specs := map[string]bool{}
	for i := range heldOut {
		texts[heldOut[i].Text] = true
		specs[heldOut[i].SpecHash()] = true
	}
	hasSpec := func(spec string) bool { return specs[spec] }
	hasText := func(text string) bool { return texts[text] }
	earlier := bank.ProtectedIn(guard.PoolHeldOut, "held-out", hasSpec, hasText)

	names := map[string]string{}
	for _, c := range bank.Clusters {
		if len(c.HeldOut) > 0 {
			names[c.ID] = strings.Join(c.HeldOut, ", ")
		}
	}
	for i := range earlier {
		earlier[i].ID = cmp.Or(names[earlier[i].ID], earlier[i].ID)
	}
	return ProtectedEntries{
		HeldOut:    append(slices.Clip(heldOut), earlier...),
		NeverTouch: bank.ProtectedIn(guard.PoolNeverTouch, "never-touch", none, none),
		Eval:       bank.ProtectedIn(guard.PoolEval, "eval", none, none),
	}
}

// NewProtection indexes the protected problems and measures the guards. It fails
// closed: it returns an error if there is nothing to protect, if a guard misses its
// canary, or if the guard finds too few planted requests.
func NewProtection(entries ProtectedEntries, c guard.Config, seed uint64) (*Protection, error) {
	p, err := newGuards(entries, c, c)
	if err != nil {
		return nil, err
	}
	p.Injection = p.train.Injection(seed)
	p.Honest = p.train.Honest()
	p.Train = p.train.FalseDrops()
	p.Eval = p.eval.FalseDrops()
	if err := p.Canary(); err != nil {
		return nil, err
	}
	return p, p.Injection.Validate()
}

// NewProtection indexes the protected problems and adopts m, which another process
// measured for the same problems, instead of measuring the guards again. The caller
// must call Canary before it uses the result.
func (m Measurements) NewProtection(entries ProtectedEntries, c guard.Config) (*Protection, error) {
	train := c
	train.Precomputed = &m.Train
	eval := c
	eval.Precomputed = &m.Eval
	p, err := newGuards(entries, train, eval)
	if err != nil {
		return nil, err
	}
	p.Measurements = m
	return p, nil
}

func newGuards(entries ProtectedEntries, train, eval guard.Config) (*Protection, error) {
	p := &Protection{}
	never := slices.Concat(entries.HeldOut, entries.NeverTouch)
	var err error
	if p.train, err = guard.New(slices.Concat(never, entries.Eval), train); err != nil {
		return nil, err
	}
	if len(never) > 0 {
		if p.eval, err = guard.New(never, eval); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Canary returns an error if a guard misses its canary.
func (p *Protection) Canary() error {
	if err := p.train.Canary(); err != nil {
		return err
	}
	return p.eval.Canary()
}

// Guard returns the guard of a split. It is nil if there is nothing to guard the
// split against, and for an unknown split.
func (p *Protection) Guard(split string) *guard.Guard {
	switch split {
	case corpus.SplitTrain:
		return p.train
	case corpus.SplitEval:
		return p.eval
	}
	return nil
}

// Check returns what the guard of a split finds in a candidate.
func (p *Protection) Check(split string, c guard.Candidate) guard.Finding {
	if g := p.Guard(split); g != nil {
		return g.Check(c)
	}
	return guard.Finding{}
}
