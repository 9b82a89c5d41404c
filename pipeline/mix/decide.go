package mix

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// entry is what is kept of one row between the two passes. Its key and request
// are hashes.
type entry struct {
	choose.Row
	session string
	id      string
}

// agent is the one that made the row, the chosen one's of a pair; empty for a problem.
func (e *entry) agent() string {
	if len(e.Agents) == 0 {
		return ""
	}
	return e.Agents[0]
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
	thin := choose.Thinner{Near: cfg.Near, PerRequest: cfg.PerProblem, PerAgent: cfg.PerAgent, Full: reasonProblem}
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
	choose.Weigh(byKey, present(byKey, weights), reasonWeight)
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

func present(rows []*choose.Row, weights []float64) []float64 {
	out := make([]float64, len(weights))
	for _, r := range rows {
		out[r.Source] = weights[r.Source]
	}
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
