package mix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

type source struct {
	*finish.Source
	weight  float64
	bank    *guard.State
	license string
	// keep says which sessions and problems were selected; nil for all.
	keep   func(session, problem string) bool
	agents map[string]string
}

func (w *mixer) open(ctx context.Context) error {
	expr, err := where.ParseOptional(w.Config.Where)
	if err != nil {
		return err
	}
	for _, s := range w.Sources {
		in := &source{weight: s.Weight, agents: map[string]string{}}
		if err = in.open(ctx, w.FS, s.Dir, expr); err != nil {
			return err
		}
		w.sources = append(w.sources, in)
	}
	slices.SortFunc(w.sources, func(a, b *source) int { return cmp.Compare(a.SHA256, b.SHA256) })
	hotkeys := w.Config.Hotkeys
	for i, s := range w.sources {
		if i > 0 && s.SHA256 == w.sources[i-1].SHA256 {
			return fmt.Errorf("mix %s: it is the same corpus as %s", s.Dir, w.sources[i-1].Dir)
		}
		hotkeys = hotkeys || s.Manifest.Redaction != nil && s.Manifest.Redaction.Hotkeys
	}
	w.Redact = redact.New(redact.Options{Hotkeys: hotkeys})
	return nil
}

func (s *source) open(ctx context.Context, fsys corpus.FS, dir string, expr *where.Expr) (err error) {
	if s.Source, err = finish.Open(fsys, dir); err != nil {
		return err
	}
	if err = s.Verify(ctx); err != nil {
		return err
	}
	if _, s.license, err = corpus.SourceSection(fsys, dir); err != nil {
		return err
	}
	if s.bank, err = s.Bank(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // one that was kept at home is asked for by Gather
	}
	return s.readLedger(fsys, expr)
}

func (s *source) readLedger(fsys corpus.FS, expr *where.Expr) error {
	err := finish.Table(s.Source, finish.TableAttempts, func(a *rows.Attempt) error {
		s.agents[a.TraceID] = cmp.Or(a.AgentVersion, a.AgentHotkey, a.RunID)
		return nil
	})
	if err != nil || expr == nil {
		return err
	}
	if !s.HasTable(finish.TableAttempts) {
		return fmt.Errorf("mix %s: it has no ledger to select by", s.Dir)
	}
	chosen, err := where.Select(fsys, s.Dir, expr)
	if err == nil {
		s.keep = chosen.Keep
	}
	return err
}

// protect joins the banks of the sources, the protected pool winning, and
// guards both splits of the mixture. Without anything protected there is none.
func (w *mixer) protect() error {
	known, err := finish.CollectExclusions(slicesx.Map(w.sources, func(s *source) *finish.Source { return s.Source }), w.HeldOut)
	if err != nil {
		return err
	}
	if known.Bank == nil {
		return errors.New("guard the mixture: no source has a bank.json, so that nothing is known to be protected")
	}
	w.bank, w.given = known.Bank, known.HeldOutDigests
	w.clusters = map[string]string{}
	for _, c := range w.bank.Clusters {
		for _, problem := range c.Problems {
			w.clusters[problem] = c.ID
		}
	}
	w.protection, err = finish.NewProtection(finish.ProtectedInBank(w.bank, known.HeldOut), guard.Config{}, w.bank.Seed)
	return err
}

// of is the pool that a cluster of a source has in the mixture, and its name
// there. A source without a bank has clusters of its own, which are in none of
// the others unless they share a problem with one.
func (w *mixer) of(s *source, cluster, split string) (string, guard.Pool) {
	if name, known := w.clusters[cluster]; known {
		return name, w.bank.Pool(cluster)
	}
	if s.bank == nil {
		return cluster, guard.Pool(split)
	}
	return cluster, ""
}

// fates are what became of the attempts of config sft in the mixture: their
// split, or why they were left out.
type fates map[string]struct{ split, reason string }

func fatesOf(all []*portion) fates {
	out := fates{}
	for _, m := range all {
		if m.config != sft.config {
			continue
		}
		for _, e := range m.entries {
			if f := out[e.session]; e.Reason == "" || f.split == "" {
				if f.reason = e.Reason; e.Reason == "" {
					f.split = m.split
				}
				out[e.session] = f
			}
		}
	}
	return out
}

// ledger writes the tables of the mixture into a part: those of the sources,
// with what became of each attempt, and where each row comes from. What an
// earlier source has of an attempt stands for all.
func (w *mixer) ledger(dir string, all []*portion) error {
	part, err := w.NewPart(dir)
	if err != nil {
		return err
	}
	l := &ledger{mixer: w, part: part, fates: fatesOf(all)}
	return finish.FirstError(
		func() error { return table(l, finish.TableAttempts, l.enter) },
		func() error { return table(l, finish.TableVerdicts, same[rows.Verdict]) },
		func() error { return table(l, finish.TableOutcomes, same[rows.Outcome]) },
		func() error { return table(l, finish.TableJudgements, same[rows.Judgement]) },
		func() error { return table(l, finish.TableLeaks, same[rows.Leak]) },
		func() error { return l.provenance(all) },
		part.Close,
	)
}

type ledger struct {
	*mixer
	part  *corpus.Part
	fates fates
}

func same[T any](*source, *T) {}

func table[T any](l *ledger, name string, change func(*source, *T)) error {
	out := finish.NewTable[T](l.part, name)
	earlier := map[string]int{}
	for i, s := range l.sources {
		err := finish.Table(s.Source, name, func(row *T) error {
			id := rows.ID(row)
			if from, known := earlier[id]; known && from != i && id != "" {
				return nil
			}
			earlier[id] = i
			change(s, row)
			return out.Add(row)
		})
		if err != nil {
			return err
		}
	}
	return out.Close()
}

// stageMix is where the mixture leaves attempts out, stageRead the first of a
// build.
const (
	stageMix  = "mix"
	stageRead = "read"
)

func (l *ledger) enter(s *source, a *rows.Attempt) {
	a.Cluster, _ = l.of(s, a.Cluster, a.Split)
	f, known := l.fates[a.TraceID]
	if a.Stage == stageRead {
		return // a record that could not be read, or a copy of the attempt
	}
	switch {
	case known && f.split != "":
		a.Fate, a.Stage, a.Reason, a.Split = rows.FateKept, "", "", f.split
	case known:
		a.Fate, a.Stage, a.Reason, a.Split, a.Rank = rows.FateDropped, stageMix, f.reason, "", nil
	}
}

func (l *ledger) provenance(all []*portion) error {
	out := finish.NewTable[rows.Provenance](l.part, "provenance")
	for _, m := range all {
		for n, at := range m.order {
			err := out.Add(&rows.Provenance{Config: m.config, Split: m.split, Row: int64(n),
				SourceCorpus: l.sources[at.source].SHA256, SourcePath: at.path, SourceRow: at.row})
			if err != nil {
				return err
			}
		}
	}
	return out.Close()
}
