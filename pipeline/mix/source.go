package mix

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/guard"
)

// source is one corpus, verified and known by its content.
type source struct {
	Source
	manifest *corpus.Manifest
	// digest is the sha256 of its manifest, size the manifest's bytes.
	digest string
	size   int64
	bank   *guard.State
	// license is what its card names, as corpus.Licensed says it.
	license string
	// keep says which sessions and problems were selected; nil for all.
	keep func(session, problem string) bool
	// agents are those of the ledger's attempts.
	agents map[string]string
}

// most bounds what is read of a manifest or a bank.
const most = 256 << 20

// open reads and verifies the sources, and orders them by content.
func (w *mixer) open(ctx context.Context) error {
	expr, err := where.ParseOptional(w.Config.Where)
	if err != nil {
		return err
	}
	for _, s := range w.Sources {
		in := &source{Source: s}
		if err = in.open(ctx, w.FS, expr); err != nil {
			return err
		}
		w.sources = append(w.sources, in)
	}
	slices.SortFunc(w.sources, func(a, b *source) int { return cmp.Compare(a.digest, b.digest) })
	hotkeys := w.Config.Hotkeys
	for i, s := range w.sources {
		if i > 0 && s.digest == w.sources[i-1].digest {
			return fmt.Errorf("mix %s: it is the same corpus as %s", s.Dir, w.sources[i-1].Dir)
		}
		hotkeys = hotkeys || s.manifest.Redaction != nil && s.manifest.Redaction.Hotkeys
	}
	w.redactor, err = redact.New(redact.Options{Hotkeys: hotkeys})
	return err
}

func (s *source) open(ctx context.Context, fsys corpus.FS, expr *where.Expr) error {
	found, err := corpus.Verify(ctx, fsys, s.Dir)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("mix %s: %w: %s", s.Dir, ErrBroken, found[0])
	}
	if s.manifest, err = corpus.ReadManifest(fsys, s.Dir); err != nil {
		return err
	}
	b, err := corpus.ReadFile(fsys, filepath.Join(s.Dir, corpus.ManifestName), most)
	if err != nil {
		return err
	}
	s.digest, s.size = corpus.SHA256(b), int64(len(b))
	if s.license, err = corpus.Licensed(fsys, s.Dir); err != nil {
		return err
	}
	if s.bank, err = s.readBank(fsys); err != nil {
		return err
	}
	return s.readLedger(fsys, expr)
}

// readBank reads the bank that a build leaves; nil where there is none.
func (s *source) readBank(fsys corpus.FS) (*guard.State, error) {
	if !s.has(bankPath) {
		return nil, nil
	}
	b, err := corpus.ReadFile(fsys, filepath.Join(s.Dir, bankPath), most)
	if err != nil {
		return nil, err
	}
	state, err := guard.ReadState(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("mix %s: %w", s.Dir, err)
	}
	return state, nil
}

const bankPath = "bank.json"

func (s *source) has(path string) bool {
	return slices.ContainsFunc(s.manifest.Files, func(f corpus.FileEntry) bool { return f.Path == path })
}

func tablePath(name string) string { return "tables/" + name + ".parquet" }

// readLedger learns from the ledger who made each attempt, and which of them
// the expression selects.
func (s *source) readLedger(fsys corpus.FS, expr *where.Expr) error {
	s.agents = map[string]string{}
	if !s.has(tablePath("attempts")) {
		if expr != nil {
			return fmt.Errorf("mix %s: it has no ledger to select by", s.Dir)
		}
		return nil
	}
	err := corpus.Rows(fsys, s.path(tablePath("attempts")), func(a *corpus.Attempt) error {
		s.agents[a.TraceID] = cmp.Or(a.AgentVersion, a.AgentHotkey, a.RunID)
		return nil
	})
	if err != nil || expr == nil {
		return err
	}
	chosen, err := where.Select(fsys, s.Dir, expr)
	if err == nil {
		s.keep = chosen.Keep
	}
	return err
}

func (s *source) path(rel string) string { return filepath.Join(s.Dir, filepath.FromSlash(rel)) }

// protect joins the banks of the sources, the protected pool winning, and
// guards both splits of the mixture. Without anything protected there is none.
func (w *mixer) protect() error {
	var banks []*guard.State
	for _, s := range w.sources {
		if s.bank != nil {
			banks = append(banks, s.bank)
		}
	}
	if len(banks) == 0 {
		return errors.New("guard the mixture: no source has a bank.json, so that nothing is known to be protected")
	}
	var err error
	if w.bank, err = guard.Union(banks...); err != nil {
		return err
	}
	w.clusters = map[string]string{}
	for _, c := range w.bank.Clusters {
		for _, problem := range c.Problems {
			w.clusters[problem] = c.ID
		}
	}
	var outside []guard.Entry
	for _, path := range w.HeldOut {
		entries, err := guard.ReadBank(path)
		if err != nil {
			return err
		}
		outside = append(outside, entries...)
	}
	return w.index(outside)
}

// index makes the guards and tries them on what they must catch.
func (w *mixer) index(outside []guard.Entry) (err error) {
	none := func(string) bool { return false }
	never := slices.Concat(outside, w.bank.ProtectedIn(guard.PoolNeverTouch, "never-touch", none, none))
	eval := w.bank.ProtectedIn(guard.PoolEval, "eval", none, none)
	if w.train, err = guard.New(slices.Concat(never, eval), guard.Config{}); err != nil {
		return err
	}
	if err = w.train.Canary(); err != nil || len(never) == 0 {
		return err
	}
	if w.eval, err = guard.New(never, guard.Config{}); err != nil {
		return err
	}
	return w.eval.Canary()
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
