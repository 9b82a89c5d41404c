package recipe

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// open reads the manifests of all sources, the protection and the teachers.
func (w *work) open() (err error) {
	pinned := cmp.Or(w.in.Rollouts, w.in.Corpus)
	if w.protection, err = protect(w.fs, pinned, w.in.HeldOut); err != nil {
		return err
	}
	if w.in.Rollouts != "" {
		err = w.addSource(fromRollouts, w.in.Rollouts)
	}
	if err == nil && (w.in.Rollouts == "" || w.recipe.CorpusShare > 0) {
		err = w.addSource(fromCorpus, w.in.Corpus)
	}
	if err == nil && w.recipe.Teacher {
		err = w.readTeachers()
	}
	return err
}

func (w *work) addSource(name, dir string) error {
	m, err := corpus.ReadManifest(w.fs, dir)
	if err != nil {
		return err
	}
	s := &source{dir: dir, manifest: m, count: Count{Source: name, Dropped: map[string]int64{}}}
	if s.input, err = manifestInput(w.fs, name, dir, m); err != nil {
		return err
	}
	w.sources = append(w.sources, s)
	if name == fromRollouts && w.recipe.comparesOutcomes() {
		err = w.readMistakes(s)
	}
	return err
}

// readMistakes reads what the filter names a mistake in the rollouts.
func (w *work) readMistakes(s *source) error {
	s.mistakes, s.count.Mistakes = map[string]string{}, map[string]int64{}
	for _, f := range s.manifest.Files {
		if !strings.HasPrefix(f.Path, "tables/verdicts") {
			continue
		}
		err := corpus.Rows(w.fs, filepath.Join(s.dir, filepath.FromSlash(f.Path)), func(row *corpus.Verdict) error {
			if i := slices.IndexFunc(row.Reasons, filters.Mistake); i >= 0 {
				s.mistakes[row.TraceID] = row.Reasons[i]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// manifestInput names a corpus by the hash of its manifest.
func manifestInput(fsys corpus.FS, name, dir string, m *corpus.Manifest) (corpus.Input, error) {
	const maxManifest = 256 << 20
	b, err := corpus.ReadFile(fsys, filepath.Join(dir, corpus.ManifestName), maxManifest)
	if err != nil {
		return corpus.Input{}, err
	}
	return corpus.Input{Kind: name + " manifest", SHA256: corpus.SHA256(b), Bytes: int64(len(b)), Records: int64(len(m.Files))}, nil
}

func (w *work) source(name string) *source {
	for _, s := range w.sources {
		if s.count.Source == name {
			return s
		}
	}
	return &source{count: Count{Source: name, Dropped: map[string]int64{}}}
}

// readTeachers reads the calls of every success of the teacher, by problem.
func (w *work) readTeachers() error {
	m, err := corpus.ReadManifest(w.fs, w.in.Teacher)
	if err != nil {
		return err
	}
	w.teachers = map[string][][][]arena.Call{}
	return trainRows(w.fs, w.in.Teacher, m, corpus.ProfileHFJSON, func(row *corpus.SFT) error {
		if row.Reward < 1 {
			return nil
		}
		ms, err := chat.Decode(row.Messages)
		w.teachers[row.ProblemID] = append(w.teachers[row.ProblemID], callsOf(ms))
		return err
	})
}

// callsOf are the calls of each assistant message.
func callsOf(ms []chat.Message) [][]arena.Call {
	var all [][]arena.Call
	for _, m := range ms {
		if m.Role != chat.Assistant {
			continue
		}
		calls := make([]arena.Call, len(m.Calls))
		for i, c := range m.Calls {
			calls[i] = arena.Call{ID: c.ID, Name: c.Function.Name, Arguments: arena.Raw(c.Function.Arguments)}
		}
		all = append(all, calls)
	}
	return all
}

// take reads the rows of all sources twice: to choose, and to write the chosen.
func take[T any](ctx context.Context, w *work, profile string, look func(*T) (view, error), write func(*T) error) error {
	for _, s := range w.sources {
		if err := pickRows(ctx, w, s, profile, look); err != nil {
			return err
		}
	}
	w.settle()
	for _, s := range w.sources {
		n := 0
		err := trainRows(w.fs, s.dir, s.manifest, profile, func(row *T) error {
			for range s.picks[n].times {
				if err := write(row); err != nil {
					return err
				}
			}
			n++
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pickRows finds the rows of a source that may be taken.
func pickRows[T any](ctx context.Context, w *work, s *source, profile string, look func(*T) (view, error)) error {
	signer := minhash.NewSigner()
	return trainRows(w.fs, s.dir, s.manifest, profile, func(row *T) error {
		v, err := look(row)
		if err != nil {
			return fmt.Errorf("read row %s: %w", v.key, err)
		}
		p := pick{
			Row:  choose.Row{Key: choose.Key(v.key), Request: v.problem, Reason: w.reject(s, &v)},
			task: v.task, failure: v.failure, wanted: v.wanted > 0,
		}
		if w.recipe.CorpusShare > 0 && p.Reason == "" {
			var signature minhash.Signature
			signer.Sign(v.completion(), &signature)
			packed := signature.Pack()
			p.Completion = &packed
		}
		s.picks = append(s.picks, p)
		return ctx.Err()
	})
}
