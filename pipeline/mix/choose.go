package mix

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/trajectory-arena/arena/guard/minhash"
)

// entry is what is kept of one row between the two passes.
type entry struct {
	// source is the position of its source.
	source int
	key    [16]byte
	// problem is the hash of its request.
	problem [16]byte
	agents  []string
	session string
	id      string
	tokens  int64
	score   float64
	// completion is the signature of what the model did and said; nil for a problem.
	completion *minhash.Packed
	// reason says why the row is no part of the mixture; empty where it is.
	reason string
}

// The reasons for which rows are left out.
const (
	reasonUnselected = "not_selected"
	reasonProtected  = "protected_cluster"
	reasonEval       = "eval_problem"
	reasonLeak       = "leak_"
	reasonCopy       = "copied_row"
	reasonNear       = "near_duplicate"
	reasonProblem    = "problem_cap"
	reasonAgent      = "agent_cap"
	reasonWeight     = "over_weight"
)

func digest16(text string) [16]byte {
	sum := sha256.Sum256([]byte(text))
	return [16]byte(sum[:16])
}

// choose decides over the rows of one config and split of all sources.
func choose(all []entry, cfg Config, weights []float64) {
	byScore := left(all, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.score, a.score), bytes.Compare(a.key[:], b.key[:]), cmp.Compare(a.source, b.source))
	})
	bound(byScore, cfg)
	weigh(left(all, func(a, b *entry) int {
		return cmp.Or(bytes.Compare(a.key[:], b.key[:]), cmp.Compare(a.source, b.source))
	}), weights)
}

// left are the rows that nothing has taken out yet, in an order of their
// content.
func left(all []entry, order func(a, b *entry) int) []*entry {
	var out []*entry
	for i := range all {
		if all[i].reason == "" {
			out = append(out, &all[i])
		}
	}
	slices.SortFunc(out, order)
	return out
}

// bound leaves the first of copies, and the first rows of each problem and
// agent. Rows with one request in which the model did nearly the same as in one
// that stays go as well. A problem that is full is compared with no more rows:
// the cap bounds the work of a request that very many rows make.
func bound(all []*entry, cfg Config) {
	seen, agents := map[[16]byte]bool{}, map[string]int{}
	stays := map[[16]byte][]*entry{}
	for _, e := range all {
		same := stays[e.problem]
		switch {
		case seen[e.key]:
			e.reason = reasonCopy
		case cfg.PerProblem > 0 && len(same) == cfg.PerProblem:
			e.reason = reasonProblem
		case slices.ContainsFunc(same, func(o *entry) bool { return o.near(e, cfg.Near) }):
			e.reason = reasonNear
		case cfg.PerAgent > 0 && slices.ContainsFunc(e.agents, func(a string) bool { return agents[a] == cfg.PerAgent }):
			e.reason = reasonAgent
		default:
			stays[e.problem] = append(same, e)
			for _, a := range e.agents {
				agents[a]++
			}
		}
		seen[e.key] = true
	}
}

// near reports whether the model did nearly the same in both; a problem has no
// completion.
func (e *entry) near(o *entry, least float64) bool {
	return e.completion != nil && o.completion != nil && e.completion.Similarity(o.completion) >= least
}

// weigh leaves of each source as many tokens as its weight gives it, to within
// one row. The source that has least for its weight gives all it has. Which
// rows stay is drawn by their keys.
func weigh(all []*entry, weights []float64) {
	has := make([]float64, len(weights))
	for _, e := range all {
		has[e.source] += float64(e.tokens)
	}
	scale := 0.0
	for s, w := range weights {
		if has[s] > 0 && (scale == 0 || has[s]/w < scale) {
			scale = has[s] / w
		}
	}
	taken := make([]float64, len(weights))
	for _, e := range all {
		// a part in 10^9 is lost in the division
		if taken[e.source] >= scale*weights[e.source]*(1-1e-9) {
			e.reason = reasonWeight
			continue
		}
		taken[e.source] += float64(e.tokens)
	}
}
