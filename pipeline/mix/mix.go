// Package mix combines several corpora into one. Sources are weighted by tokens, the rows of
// agents and problems are limited, and the union is guarded and deduplicated again.
//
// Each row is read twice: first to store a few hundred bytes about it, then to write it if it
// was chosen. The choice depends on the content of the sources and on the configuration. It does
// not depend on paths, the order of arguments or the number of workers.
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

// Source is one corpus with its weight. In each config and split, the weight is the source's
// share of the tokens relative to the other sources with rows there.
type Source struct {
	Dir    string
	Weight float64
}

// Config has the rules by which rows of the mixture are chosen.
type Config struct {
	// PerProblem is the maximum number of rows with the same request in one config, PerAgent
	// that of rows of one agent. 0 means no limit.
	PerProblem int
	PerAgent   int
	// Near is the estimated Jaccard similarity from which two rows with the same request count
	// as duplicates.
	Near float64
	// Where is an expression over the columns of the ledger. An empty expression selects all
	// rows.
	Where string
	// Hotkeys reports whether the agents' accounts are removed too.
	Hotkeys bool
}

// Defaults returns the default rules: four attempts per problem, and near-duplicates from a
// similarity of 0.8.
func Defaults() Config { return Config{PerProblem: 4, Near: 0.8} }

// Mix is the configuration of a mixture.
type Mix struct {
	Sources []Source
	Config  Config
	// HeldOut are the paths of files of problems that are protected in addition to those of the
	// sources.
	HeldOut []string
	Workers int
	// Run replaces the redactor of Target by one that removes everything that was removed from
	// any source.
	finish.Target
}

// Validate returns an error that lists all invalid settings, nil if all are valid.
func (m *Mix) Validate() error {
	var bad wrong.List
	bad.Unless(len(m.Sources) > 0, "there is no source")
	weighed := 0
	for _, s := range m.Sources {
		bad.Unless(s.Weight >= 0 && !math.IsInf(s.Weight, 1), "weight of %s is %v: want more than 0", s.Dir, s.Weight)
		if s.Weight > 0 {
			weighed++
		}
	}
	bad.Unless(weighed == 0 || weighed == len(m.Sources), "%d of %d sources have a weight: want more than 0 for all, or for none", weighed, len(m.Sources))
	bad.Unless(m.Config.PerProblem >= 0, "rows per problem are %d: want 0 or more", m.Config.PerProblem)
	bad.Unless(m.Config.PerAgent >= 0, "rows per agent are %d: want 0 or more", m.Config.PerAgent)
	bad.Unless(
		m.Config.Near > 0 && m.Config.Near <= 1,
		"near is %v: want more than 0 and at most 1",
		m.Config.Near,
	)
	bad.Unless(m.Workers >= 1, "workers is %d: want at least 1", m.Workers)
	return bad.Err()
}

type mixer struct {
	*Mix
	sources []*source
	bank    *guard.State
	// heldOutDigests identify the held-out files of the run.
	heldOutDigests []string
	// clusters maps the ID of a source's cluster (group of similar problems) to the ID of the
	// cluster in the mixture that contains it.
	clusters   map[string]string
	protection *finish.Protection
	work       string
	// evalProblems has the IDs of all problems with rows in the eval split.
	evalProblems map[string]bool
}

// Run writes the complete mixture, or nothing. If no row is left, it returns the report together
// with choose.ErrEmpty.
func (m *Mix) Run(ctx context.Context) (*Report, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	var report *Report
	err := m.WriteInParts(func(work string) (err error) {
		w := &mixer{
			Mix:          m,
			work:         work,
			evalProblems: map[string]bool{},
		}
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

// write writes the rows of the mixture, assembles the corpus, and returns the report. The eval
// split is written first, because its problems must not occur in the train split. If no row
// remains, the error is choose.ErrEmpty.
func (w *mixer) write(ctx context.Context) (*Report, error) {
	eval, err := w.mixSplit(ctx, corpus.SplitEval)
	if err != nil {
		return nil, err
	}
	for _, p := range eval {
		for i := range p.entries {
			if p.entries[i].Reason == "" {
				w.evalProblems[p.entries[i].problemID] = true
			}
		}
	}
	train, err := w.mixSplit(ctx, corpus.SplitTrain)
	if err != nil {
		return nil, err
	}
	portions := slices.Concat(eval, train)
	report, err := w.report(portions)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(report.Parts, func(p PartReport) bool { return p.Out > 0 }) {
		return report, choose.ErrEmpty
	}
	ledger := filepath.Join(w.work, "ledger")
	if err := w.writeLedger(ledger, portions); err != nil {
		return nil, err
	}
	return report, w.assemble(ctx, report, portions, ledger)
}

func (w *mixer) mixSplit(ctx context.Context, split string) ([]*portion, error) {
	kinds := []func(context.Context, *mixer, string) (*portion, error){sft.mix, rl.mix, pref.mix, kto.mix}
	out := make([]*portion, len(kinds))
	return out, inorder.Each(ctx, w.Workers, len(kinds), func(ctx context.Context, i int) (err error) {
		out[i], err = kinds[i](ctx, w, split)
		return err
	})
}
