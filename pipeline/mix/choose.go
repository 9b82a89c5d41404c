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

// portion is the rows of one config, such as sft, in one split of the mixture.
type portion struct {
	config  string
	split   string
	entries []entry
	// part is the folder of the written files, "" if no row is left.
	part string
	// order has the positions of the rows in the sources, in the order in which they are
	// written.
	order []place
	// unbanked has the clusters (of similar problems) of the rows from sources without a bank.
	unbanked map[string]bool
	figures  figures.Figures
}

// place is the position of a row: the index of its source, the path of a data file in the source,
// and the number of the row in the file, from 0.
type place struct {
	source int
	path   string
	row    int64
}

// mix reads the rows of one config and split from all sources, decides which rows to keep, and
// writes them. The user's limits and weights apply only to the train split and not to config rl;
// elsewhere only copies are dropped.
func (k *kind[T]) mix(
	ctx context.Context,
	w *mixer,
	split string,
) (*portion, error) {
	p := &portion{
		config:   k.config,
		split:    split,
		unbanked: map[string]bool{},
	}
	for i, s := range w.sources {
		err := finish.Rows(s.Source, k.profile, split, func(row *T) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			view, err := finish.ViewRow(row)
			if err != nil {
				return err
			}
			p.entries = append(p.entries, w.newEntry(i, split, &view))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	config := w.Config
	weights := w.weights()
	if split == corpus.SplitEval || k.config == rl.config { // keep all rows but copies
		config = Config{Near: unreachable}
		weights = nil
	}
	decide(p.entries, config, weights)
	if !slices.ContainsFunc(p.entries, func(e entry) bool { return e.Reason == "" }) {
		return p, nil
	}
	return p, k.write(ctx, w, p)
}

// unreachable is a threshold that the similarity of two rows never reaches. With it, no rows count
// as near-duplicates.
const unreachable = 2

// weights returns the weights of the sources in order, nil if none has a weight.
func (w *mixer) weights() []float64 {
	return slicesx.FilterMap(w.sources, func(s *source) (float64, bool) {
		return s.weight, s.weight > 0
	})
}

func (w *mixer) newEntry(
	source int,
	split string,
	row *finish.RowView,
) entry {
	s := w.sources[source]
	// Texts are cloned because a row's texts are valid only during its batch.
	e := entry{
		Row: choose.Row{
			Source:  source,
			Key:     choose.Key(row.Key),
			Request: choose.Key(strings.TrimSpace(row.Candidate.Text)),
			Tokens:  max(row.Figures.Tokens, 1), // 1 for a problem
			Score:   row.Score,
			Reason:  w.rejectReason(s, split, row),
		},
		problemID: strings.Clone(row.ProblemID),
	}
	if len(row.Sessions) == 1 {
		e.session = strings.Clone(row.Sessions[0])
	}
	for _, session := range row.Sessions {
		if agent := s.agents[session]; agent != "" {
			e.Agents = slicesx.AppendUnique(e.Agents, agent)
		}
	}
	if len(row.Sessions) > 0 && e.Reason == "" {
		e.Completion = row.Completion()
	}
	return e
}

// rejectReason returns the reason why a row of source s cannot be part of the mixture, independent
// of other rows: the user's selection excludes it, its problem is protected or belongs to the eval
// split, or the guard drops it. It returns "" if there is no such reason.
func (w *mixer) rejectReason(
	s *source,
	split string,
	row *finish.RowView,
) string {
	sessions := row.Sessions
	if len(sessions) == 0 { // a problem has no session
		sessions = []string{""}
	}
	isExcluded := func(session string) bool {
		return !s.isSelected(session, row.ProblemID)
	}
	if s.isSelected != nil && slices.ContainsFunc(sessions, isExcluded) {
		return reasonUnselected
	}
	if _, pool := w.clusterPool(s, row.Cluster, split); pool != guard.Pool(split) {
		return reasonProtected
	}
	if split == corpus.SplitTrain && w.evalProblems[row.ProblemID] {
		return reasonEval
	}
	if f := w.protection.Check(split, row.Candidate); f.Drop {
		return reasonLeak + string(f.Tier)
	}
	return ""
}

// entry is what is kept in memory of each row, to decide on it after all rows were read once. Key
// and request are hashes. session is the ID of the row's attempt, "" if the row was made from
// several attempts or none.
type entry struct {
	choose.Row
	session   string
	problemID string
}

// The codes of the reasons for dropping rows, in addition to those of package choose.
const (
	reasonUnselected = "not_selected"      // --where does not select it
	reasonProtected  = "protected_cluster" // its problem is in a cluster that is not of the row's split
	reasonEval       = "eval_problem"      // its problem is in the eval split of the mixture
	reasonLeak       = "leak_"             // followed by the tier of the guard that finds a protected problem
	reasonProblem    = "problem_cap"       // better rows fill the limit of its problem
	reasonWeight     = "over_weight"       // its source already has its share of the mixture
)

// decide drops rows because of other rows, by setting Reason of their entries: copies,
// near-duplicates, rows beyond the limit of their request or agent, and rows beyond the share of
// their source. entries are all rows of one config and split. weights has the relative share of
// each source; nil means no shares.
func decide(entries []entry, cfg Config, weights []float64) {
	thinner := choose.Thinner{
		Near:       cfg.Near,
		PerRequest: cfg.PerProblem,
		PerAgent:   cfg.PerAgent,
		FullReason: reasonProblem,
	}
	byScore := remaining(entries, func(a, b *choose.Row) int {
		return cmp.Or(
			cmp.Compare(b.Score, a.Score),
			cmp.Compare(a.Key, b.Key),
			cmp.Compare(a.Source, b.Source),
		)
	})
	for _, r := range byScore {
		r.Reason = thinner.Offer(r)
	}
	if weights == nil {
		return
	}
	byKey := remaining(entries, func(a, b *choose.Row) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Source, b.Source))
	})
	present := make([]float64, len(weights)) // 0 for a source without remaining rows
	for _, r := range byKey {
		present[r.Source] = weights[r.Source]
	}
	choose.TrimToWeights(byKey, present, reasonWeight)
}

// remaining returns the entries that were not dropped so far, as rows sorted by compare.
func remaining(entries []entry, compare func(a, b *choose.Row) int) []*choose.Row {
	var out []*choose.Row
	for i := range entries {
		if entries[i].Reason == "" {
			out = append(out, &entries[i].Row)
		}
	}
	slicesx.SortFunc(out, compare)
	return out
}

// kind is a dataset config that a mixture can have, such as sft or pref. T is the type of its rows.
type kind[T any] struct {
	config  string
	profile string
	origin  func(*T) *rows.Origin
	// stamp writes two values into a row: the SHA-256 of its source and its number in the split.
	// It is nil if the row type has fields for neither.
	stamp func(row *T, digest string, number int64) error
}

// The configs that a mixture can have.
var (
	sft = kind[rows.SFT]{"sft", corpus.ProfileHFJSON, func(r *rows.SFT) *rows.Origin {
		return &r.Origin
	}, stampSFT}
	rl = kind[rows.RL]{"rl", corpus.ProfileVerlRL, func(r *rows.RL) *rows.Origin {
		return &r.Origin
	}, stampRL}
	pref = kind[rows.Pref]{"pref", corpus.ProfilePref, func(r *rows.Pref) *rows.Origin {
		return &r.Origin
	}, nil}
	kto = kind[rows.KTO]{"kto", corpus.ProfileKTO, func(r *rows.KTO) *rows.Origin {
		return &r.Origin
	}, nil}
)

// stampSFT records in a row's metadata from which source corpus the row is: digest is the hash of
// that corpus's manifest. Exports copy the metadata. It returns an error if the metadata is not a
// JSON object.
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
