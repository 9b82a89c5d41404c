package mix

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
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
	for i, s := range w.sources {
		err := finish.Rows(s.Source, k.profile, m.split, func(row *T) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			seen, err := finish.ViewRow(row)
			if err != nil {
				return err
			}
			m.entries = append(m.entries, w.entry(i, m.split, &seen))
			return nil
		})
		if err != nil {
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
	return slicesx.FilterMap(w.sources, func(s *source) (float64, bool) { return s.weight, s.weight > 0 })
}

func (w *mixer) entry(source int, split string, row *finish.RowView) entry {
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
func (w *mixer) unfit(s *source, split string, row *finish.RowView) string {
	sessions := row.Sessions
	if len(sessions) == 0 { // a problem is selected by itself
		sessions = []string{""}
	}
	if s.keep != nil && slices.ContainsFunc(sessions, func(session string) bool { return !s.keep(session, row.ProblemID) }) {
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

// entry is what is kept of one row between the two passes. Its key and request
// are hashes.
type entry struct {
	choose.Row
	session string
	id      string
}

// The reasons for which rows are left out.
const (
	reasonUnselected = "not_selected"      // --where does not select it
	reasonProtected  = "protected_cluster" // its problem is of a cluster that is held out
	reasonEval       = "eval_problem"      // its problem is evaluated on in one of the sources
	reasonLeak       = "leak_"
	reasonProblem    = "problem_cap" // the problem has its full number of rows
	reasonWeight     = "over_weight" // its source has its share of the mixture
)

// decide decides over the rows of one config and split of all sources; without
// weights all of them stay.
func decide(all []entry, cfg Config, weights []float64) {
	thin := choose.Thinner{Near: cfg.Near, PerRequest: cfg.PerProblem, PerAgent: cfg.PerAgent, FullReason: reasonProblem}
	byScore := left(all, func(a, b *choose.Row) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Source, b.Source))
	})
	for _, r := range byScore {
		r.Reason = thin.Offer(r)
	}
	if weights == nil {
		return
	}
	byKey := left(all, func(a, b *choose.Row) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Source, b.Source))
	})
	present := make([]float64, len(weights)) // those of the sources that have rows left
	for _, r := range byKey {
		present[r.Source] = weights[r.Source]
	}
	choose.TrimToWeights(byKey, present, reasonWeight)
}

// left are the rows that nothing has taken out yet, in an order of their
// content.
func left(all []entry, order func(a, b *choose.Row) int) []*choose.Row {
	var out []*choose.Row
	for i := range all {
		if all[i].Reason == "" {
			out = append(out, &all[i].Row)
		}
	}
	slices.SortFunc(out, order)
	return out
}

type kind[T any] struct {
	config, profile string
	origin          func(*T) *rows.Origin
	// stamp writes into a row where it comes from and its number in its split; nil
	// where rows have no place for it.
	stamp func(row *T, digest string, number int64) error
}

// The kinds that a mixture has.
var (
	sft  = kind[rows.SFT]{"sft", corpus.ProfileHFJSON, func(r *rows.SFT) *rows.Origin { return &r.Origin }, stampSFT}
	rl   = kind[rows.RL]{"rl", corpus.ProfileVerlRL, func(r *rows.RL) *rows.Origin { return &r.Origin }, stampRL}
	pref = kind[rows.Pref]{"pref", corpus.ProfilePref, func(r *rows.Pref) *rows.Origin { return &r.Origin }, nil}
	kto  = kind[rows.KTO]{"kto", corpus.ProfileKTO, func(r *rows.KTO) *rows.Origin { return &r.Origin }, nil}
)

// stampSFT adds the source to the row's metadata, which exports carry along.
func stampSFT(r *rows.SFT, digest string, _ int64) error {
	meta := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(r.Metadata), &meta); err != nil {
		return fmt.Errorf("read metadata of %s: %w", r.SessionID, err)
	}
	meta["source_corpus"] = json.RawMessage(`"` + digest + `"`)
	b, err := json.Marshal(meta)
	r.Metadata = string(b)
	return err
}

func stampRL(r *rows.RL, _ string, number int64) error {
	r.Extra.Index = number
	return nil
}
