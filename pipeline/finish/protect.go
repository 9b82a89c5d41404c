// Package finish has the last steps that all commands for corpora share. It guards the splits
// against all held-out problems (Protection) and reads finished corpora as sources of rows
// (Source). It writes the tables of the ledger, and combines parts, bank, reports and card to a
// corpus (Target).
package finish

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
)

// Measurements are the measured quality of a Protection's guards. Another process that guards
// against the same problems can reuse them.
type Measurements struct {
	// Injection counts the planted protected requests, and those that the train guard finds.
	Injection guard.InjectionReport `json:"injection"`
	// Honest is the result of the train guard on the project's list of honest requests.
	Honest guard.HonestReport `json:"honest"`
	// Train and Eval count the honest requests that the guards of the two splits would drop.
	Train guard.FalseDrops `json:"train"`
	Eval  guard.FalseDrops `json:"eval"`
}

// Protection finds problems in rows that must not be in the split of the row.
type Protection struct {
	Measurements
	// train guards against all protected problems, eval against held-out and never-touch problems.
	// A guard is nil if there is nothing to guard against.
	train *guard.Guard
	eval  *guard.Guard
}

// ProtectedEntries are the problems that must not be used for training, by the reason.
type ProtectedEntries struct {
	// HeldOut are the problems of held-out files, and those that a bank records as held out
	// before.
	HeldOut []guard.Entry
	// NeverTouch and Eval are the problems in the bank's pools of these names.
	NeverTouch []guard.Entry
	Eval       []guard.Entry
}

// ProtectedInBank returns the protected problems of a bank and of held-out files.
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

// NewProtection indexes the protected problems and measures the guards. It returns an error if
// there is nothing to protect, if a guard does not find its canary, or if a guard finds too few
// planted requests.
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

// NewProtection indexes the protected problems and uses m instead of measuring the guards again.
// Another process must have measured m for the same problems. The caller must call Canary before
// using the result.
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

// Canary returns an error if a guard does not find its canary (a planted protected problem).
func (p *Protection) Canary() error {
	if err := p.train.Canary(); err != nil {
		return err
	}
	return p.eval.Canary()
}

// Guard returns the guard of a split. It returns nil for an unknown split, and if there is
// nothing to guard the split against.
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

// LeakRow returns a guard's finding on an attempt, with its ID and the hash of its request, as a row
// of table leaks. It returns nil if the guard found nothing.
func LeakRow(id, requestSHA256 string, f *guard.Finding) *rows.Leak {
	if f.Match == "" {
		return nil
	}
	return &rows.Leak{
		ID:         id,
		TextSHA256: requestSHA256,
		Match:      f.Match,
		Drop:       f.Drop,
		Same:       f.Same,
		Score:      f.Score,
		Tier:       string(f.Tier),
		Evidence:   f.Evidence,
	}
}
