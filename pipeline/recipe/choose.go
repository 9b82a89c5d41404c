package recipe

import (
	"cmp"
	"crypto/sha256"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/pipeline"
)

// Count says what became of the rows of one source.
type Count struct {
	// Source is rollouts or corpus.
	Source string `json:"source"`
	// In = Taken + the sum of Dropped; Rows counts the copies, too.
	In      int64            `json:"in"`
	Dropped map[string]int64 `json:"dropped"`
	Taken   int64            `json:"taken"`
	Rows    int64            `json:"rows"`
	// Mistakes counts the taken rows whose failure the filter names a mistake of
	// the student, such as invented_id, by that reason.
	Mistakes map[string]int64 `json:"mistakes,omitempty"`
}

// The sources of rows.
const (
	fromRollouts = "rollouts"
	fromCorpus   = "corpus"
)

// The reasons for which rows are left out beside those of the protection.
const (
	reasonReward   = "below_min_reward"
	reasonOutcome  = "same_outcome"
	reasonOneSided = "one_sided_problem"
	reasonTeacher  = "no_teacher"
	reasonNear     = "near_duplicate"
	reasonShare    = "over_share"
)

// source is one side of a recipe: a corpus, and what is taken of it.
type source struct {
	dir      string
	manifest *corpus.Manifest
	input    corpus.Input
	picks    []pick
	// mistakes are the filter's reasons by session.
	mistakes map[string]string
	// times says how often the row of a key is written.
	times map[string]int
	count Count
}

// pick is a row that may be taken.
type pick struct {
	key, problem, task, failure string
	wanted                      bool
	completion                  minhash.Packed
}

func (s *source) drop(reason string) { s.count.Dropped[reason]++ }

// thin drops the picks that a reason is given for.
func (s *source) thin(reason string, drop func(*pick) bool) {
	s.picks = slices.DeleteFunc(s.picks, func(p pick) bool {
		if !drop(&p) {
			return false
		}
		s.drop(reason)
		return true
	})
}

// reject says why a row may not be taken, whatever the others are; empty where
// it may.
func (w *work) reject(s *source, v *view) string {
	if reason := w.protection.check(v); reason != "" {
		return reason
	}
	switch {
	case s.count.Source == fromRollouts && v.wanted < w.recipe.MinReward:
		return reasonReward
	case w.recipe.Profile == corpus.ProfilePref && v.wanted == 0:
		return reasonOutcome
	case w.recipe.Teacher && len(w.teachers[v.problem]) == 0:
		return reasonTeacher
	}
	return ""
}

// settle makes a choice among the picks of all sources.
func (w *work) settle() {
	if w.recipe.Profile == corpus.ProfileKTO {
		w.bothSides()
	}
	if w.recipe.CorpusShare > 0 {
		w.apart()
		w.share()
	}
	for _, s := range w.sources {
		for _, p := range s.picks {
			times := 1
			if p.task == "voucher" {
				times = w.recipe.VoucherTimes
			}
			s.times[p.key] = times
			s.count.Taken++
			s.count.Rows += int64(times)
			if reason := s.mistakes[p.failure]; reason != "" {
				s.count.Mistakes[reason]++
			}
		}
	}
}

// bothSides keeps the problems that have a success and a failure.
func (w *work) bothSides() {
	for _, s := range w.sources {
		won, lost := map[string]bool{}, map[string]bool{}
		for _, p := range s.picks {
			won[p.problem] = won[p.problem] || p.wanted
			lost[p.problem] = lost[p.problem] || !p.wanted
		}
		s.thin(reasonOneSided, func(p *pick) bool { return !won[p.problem] || !lost[p.problem] })
	}
}

// apart drops rows of the corpus that say nearly what a rollout at the same
// problem says: a student repeats what it was trained on.
func (w *work) apart() {
	limit := pipeline.Defaults().Select.Near
	rollouts := map[string][]pick{}
	for _, p := range w.source(fromRollouts).picks {
		rollouts[p.problem] = append(rollouts[p.problem], p)
	}
	w.source(fromCorpus).thin(reasonNear, func(p *pick) bool {
		return slices.ContainsFunc(rollouts[p.problem], func(r pick) bool { return r.completion.Similarity(&p.completion) >= limit })
	})
}

// share cuts the larger side, so that the corpus has its share of all rows. No
// row is repeated for it: the smaller side says how much there is.
func (w *work) share() {
	rollouts, corpus := w.source(fromRollouts), w.source(fromCorpus)
	ratio := w.recipe.CorpusShare / (1 - w.recipe.CorpusShare)
	if want := int(math.Round(float64(len(rollouts.picks)) * ratio)); want <= len(corpus.picks) {
		corpus.cut(want)
		return
	}
	rollouts.cut(int(math.Round(float64(len(corpus.picks)) / ratio)))
}

// cut leaves n picks, chosen by the hashes of their keys.
func (s *source) cut(n int) {
	order := slices.Clone(s.picks)
	slices.SortFunc(order, func(a, b pick) int {
		x, y := sha256.Sum256([]byte(a.key)), sha256.Sum256([]byte(b.key))
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a.key, b.key))
	})
	left := map[string]bool{}
	for _, p := range order[:n] {
		left[p.key] = true
	}
	s.thin(reasonShare, func(p *pick) bool { return !left[p.key] })
}
