// Package mix makes one corpus of several: token-weighted, with caps on agents
// and problems, guarded and freed of duplicates over the union again.
//
// Rows stream twice: once to learn what each says, in a few hundred bytes a
// row, once to write those that were chosen. What is chosen depends on the
// content of the sources and on the configuration, not on paths, the order of
// arguments or the number of workers.
package mix

import (
	"context"
	"math"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Source is one corpus with its weight: its share of the tokens of every
// config and split, relative to the other sources that have rows there.
type Source struct {
	Dir    string
	Weight float64
}

// Config says which rows may become part of the mixture.
type Config struct {
	// PerProblem bounds the rows of one config that make one request, PerAgent
	// those of one agent; 0 is no bound.
	PerProblem int
	PerAgent   int
	// Near is the estimated Jaccard similarity from which two rows with one
	// request count as the same.
	Near float64
	// Where is an expression over the columns of the ledger; empty for all.
	Where string
	// Hotkeys takes out the accounts of agents too.
	Hotkeys bool
}

// Defaults are those of a build: four attempts a problem, near-duplicates cut
// at 0.8.
func Defaults() Config { return Config{PerProblem: 4, Near: 0.8} }

// Mix is one mixture to be made.
type Mix struct {
	Sources []Source
	Config  Config
	// HeldOut are files of problems that are protected beside the sources' own.
	HeldOut []string
	Workers int
	// Target's redactor is the mixture's own: it takes out what any source had
	// taken out of it.
	finish.Target
}

// Validate names everything that cannot be used, all at once.
func (m *Mix) Validate() error {
	var bad wrong.List
	bad.Unless(len(m.Sources) > 0, "there is no source")
	for _, s := range m.Sources {
		bad.Unless((s.Weight > 0) == (m.Sources[0].Weight > 0) && s.Weight >= 0 && !math.IsInf(s.Weight, 1), "weight of %s is %v: want more than 0, or none for any source", s.Dir, s.Weight)
	}
	bad.Unless(m.Config.PerProblem >= 0 && m.Config.PerAgent >= 0, "caps are %d and %d: want 0 or more", m.Config.PerProblem, m.Config.PerAgent)
	bad.Unless(m.Config.Near > 0 && m.Config.Near <= 1, "near is %v: want more than 0 and at most 1", m.Config.Near)
	bad.Unless(m.Workers >= 1, "workers is %d: want at least 1", m.Workers)
	return bad.Err()
}

type mixer struct {
	*Mix
	sources []*source
	bank    *guard.State
	given   []string
	// clusters name the cluster of the union by that of a source.
	clusters   map[string]string
	protection *finish.Protection
	work       string
	// evalProblems are the ids of all problems that eval has rows of.
	evalProblems map[string]bool
}

// Run writes the mixture, all of it or nothing. Where no row is left the report
// still says why.
func (m *Mix) Run(ctx context.Context) (*Report, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	var report *Report
	err := m.WriteInParts(func(work string) (err error) {
		w := &mixer{Mix: m, work: work, evalProblems: map[string]bool{}}
		if err = w.open(ctx); err != nil {
			return err
		}
		if err = w.protect(); err != nil {
			return err
		}
		report, err = w.write(ctx)
		return err
	})
	return report, err
}

// write mixes the eval split first: a problem that is in it may not be in
// train.
func (w *mixer) write(ctx context.Context) (*Report, error) {
	var all []*portion
	for _, split := range []string{corpus.SplitEval, corpus.SplitTrain} {
		done, err := w.split(ctx, split)
		if err != nil {
			return nil, err
		}
		for _, d := range done {
			all = append(all, d)
			for i := range d.entries {
				if split == corpus.SplitEval && d.entries[i].Reason == "" {
					w.evalProblems[d.entries[i].id] = true
				}
			}
		}
	}
	report, err := w.report(all)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(report.Parts, func(p PartReport) bool { return p.Out > 0 }) {
		return report, choose.ErrEmpty
	}
	ledger := filepath.Join(w.work, "ledger")
	if err := w.ledger(ledger, all); err != nil {
		return nil, err
	}
	return report, w.assemble(ctx, report, all, ledger)
}

func (w *mixer) split(ctx context.Context, split string) ([]*portion, error) {
	kinds := []func(context.Context, *mixer, string) (*portion, error){sft.mix, rl.mix, pref.mix, kto.mix}
	out := make([]*portion, len(kinds))
	return out, inorder.Each(ctx, w.Workers, len(kinds), func(ctx context.Context, i int) (err error) {
		out[i], err = kinds[i](ctx, w, split)
		return err
	})
}
