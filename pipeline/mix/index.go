package mix

import (
	"context"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

type portion struct {
	config, split string
	entries       []entry
	// part is the folder of its shards; empty where no row is left.
	part string
	// order are the sources and rows of its rows as written.
	order []place
	// own are clusters of sources without a bank that have rows in the mixture.
	own     map[string]bool
	figures figures.Figures
}

type place struct {
	source int
	path   string
	row    int64
}

func (k *kind[T]) mix(ctx context.Context, w *mixer, split string) (*portion, error) {
	m := &portion{config: k.config, split: split, own: map[string]bool{}}
	for i := range w.sources {
		if err := k.index(ctx, w, m, i); err != nil {
			return nil, err
		}
	}
	config, weights := w.Config, w.weights()
	if split == corpus.SplitEval || k.config == rl.config { // what is measured by is not thinned, but for copies
		config, weights = Config{Near: never}, nil
	}
	decide(m.entries, config, weights)
	if !slices.ContainsFunc(m.entries, func(e entry) bool { return e.Reason == "" }) {
		return m, nil
	}
	return m, k.write(ctx, w, m)
}

// never is a similarity that no two rows reach.
const never = 2

// weights are those of the sources; nil where they are united.
func (w *mixer) weights() []float64 {
	var out []float64
	for _, s := range w.sources {
		if s.weight > 0 {
			out = append(out, s.weight)
		}
	}
	return out
}

func (k *kind[T]) index(ctx context.Context, w *mixer, m *portion, source int) error {
	return finish.Rows(w.sources[source].Source, k.profile, m.split, func(row *T) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		seen, err := finish.Look(row)
		if err != nil {
			return err
		}
		m.entries = append(m.entries, w.entry(source, m.split, &seen))
		return nil
	})
}

func (w *mixer) entry(source int, split string, row *finish.Seen) entry {
	s := w.sources[source]
	// what a reader keeps is cloned: a row's texts live as long as its batch
	e := entry{
		Row: choose.Row{
			Source: source, Key: choose.Key(row.Key), Request: choose.Key(strings.TrimSpace(row.Candidate.Text)),
			Tokens: max(row.Figures.Tokens, 1), Score: row.Score, Reason: w.unfit(s, split, row), // a problem weighs one
		},
		id: strings.Clone(row.ProblemID),
	}
	if len(row.Sessions) == 1 {
		e.session = strings.Clone(row.Sessions[0])
	}
	for _, session := range row.Sessions {
		if a := s.agents[session]; a != "" && !slices.Contains(e.Agents, a) {
			e.Agents = append(e.Agents, a)
		}
	}
	if len(row.Sessions) > 0 && e.Reason == "" {
		e.Completion = row.Completion()
	}
	return e
}

// unfit says why a row can be no part of the mixture, whatever the other rows.
func (w *mixer) unfit(s *source, split string, row *finish.Seen) string {
	for _, session := range row.Sessions {
		if s.keep != nil && !s.keep(session, row.ProblemID) {
			return reasonUnselected
		}
	}
	if s.keep != nil && len(row.Sessions) == 0 && !s.keep("", row.ProblemID) {
		return reasonUnselected
	}
	if _, pool := w.of(s, row.Cluster, split); pool != guard.Pool(split) {
		return reasonProtected
	}
	if split == corpus.SplitTrain && w.evalProblems[row.ProblemID] {
		return reasonEval
	}
	if found := w.protection.Check(split, row.Candidate); found.Drop {
		return reasonLeak + string(found.Tier)
	}
	return ""
}

// noteProblems keeps the problems of the eval split out of train.
func (m *portion) noteProblems(w *mixer) {
	if w.evalProblems == nil {
		w.evalProblems = map[string]bool{}
	}
	for i := range m.entries {
		if m.entries[i].Reason == "" {
			w.evalProblems[m.entries[i].id] = true
		}
	}
}
