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
	// isSelected reports whether Config.Where selects the row of a session or problem. It is nil
	// if Where is empty.
	isSelected func(session, problem string) bool
	// agents maps the trace ID of an attempt to its agent.
	agents map[string]string
}

func (w *mixer) open(ctx context.Context) error {
	expr, err := where.ParseOptional(w.Config.Where)
	if err != nil {
		return err
	}
	for _, s := range w.Sources {
		opened := &source{weight: s.Weight, agents: map[string]string{}}
		if err = opened.open(ctx, w.FS, s.Dir, expr); err != nil {
			return err
		}
		w.sources = append(w.sources, opened)
	}
	slices.SortFunc(w.sources, func(a, b *source) int {
		return cmp.Compare(a.SHA256, b.SHA256)
	})
	hotkeys := w.Config.Hotkeys
	for i, s := range w.sources {
		if i > 0 && s.SHA256 == w.sources[i-1].SHA256 {
			return fmt.Errorf("mix %s: it is the same corpus as %s", s.Dir, w.sources[i-1].Dir)
		}
		if r := s.Manifest.Redaction; r != nil && r.Hotkeys {
			hotkeys = true
		}
	}
	w.Redact = redact.New(redact.Options{Hotkeys: hotkeys})
	return nil
}

func (s *source) open(
	ctx context.Context,
	fsys corpus.FS,
	dir string,
	expr *where.Expr,
) (err error) {
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
		return err // CollectExclusions checks for an unpublished bank
	}
	return s.readLedger(ctx, fsys, expr)
}

func (s *source) readLedger(ctx context.Context, fsys corpus.FS, expr *where.Expr) error {
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
	selection, err := where.Select(ctx, fsys, s.Dir, expr)
	if err != nil {
		return err
	}
	s.isSelected = selection.Keep
	return nil
}

// protect joins the banks of all sources (a bank records the pool, such as train or held-out, of
// each problem) and creates the guards of both splits from the result. A cluster of similar
// problems that is protected in one source is protected in the mixture. protect returns an error if
// no problem is protected.
func (w *mixer) protect() error {
	sources := slicesx.Map(w.sources, func(s *source) *finish.Source {
		return s.Source
	})
	exclusions, err := finish.CollectExclusions(sources, w.HeldOut)
	if err != nil {
		return err
	}
	if exclusions.Bank == nil {
		return errors.New("guard the mixture: no source has a bank.json, so that nothing is known to be protected")
	}
	w.bank = exclusions.Bank
	w.heldOutDigests = exclusions.HeldOutDigests
	w.clusters = map[string]string{}
	for _, c := range w.bank.Clusters {
		for _, problem := range c.Problems {
			w.clusters[problem] = c.ID
		}
	}
	w.protection, err = finish.NewProtection(
		finish.ProtectedInBank(w.bank, exclusions.HeldOut),
		guard.Config{},
		w.bank.Seed,
	)
	return err
}

// clusterPool returns the ID and the pool (train, eval, held-out or never-touch) that a cluster of
// similar problems has in the mixture. Both are taken from the joined banks, the records of all
// pools. A cluster that these lack keeps its ID; its pool is the split of its rows if the source
// has no bank, and otherwise empty, which means unknown.
func (w *mixer) clusterPool(s *source, cluster, split string) (string, guard.Pool) {
	if name, ok := w.clusters[cluster]; ok {
		return name, w.bank.Pool(cluster)
	}
	if s.bank == nil {
		return cluster, guard.Pool(split)
	}
	return cluster, ""
}
