package recipe

import (
	"cmp"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Count says what became of the rows of one source.
type Count struct {
	// Source is rollouts, rewritten or corpus.
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
	fromProgram  = "rewritten"
	fromCorpus   = "corpus"
)

// The reasons for which rows are left out beside those of the protection.
const (
	reasonReward   = "below_min_reward"  // the reward is under min_reward
	reasonOutcome  = "same_outcome"      // all attempts at the problem have one outcome
	reasonOneSided = "one_sided_problem" // the problem has rows of one side alone
	reasonTeacher  = "no_teacher"        // no teacher solved the problem
	reasonShare    = "over_share"        // its source has its share of the recipe
)

type source struct {
	*finish.Source
	picks []pick
	// mistakes are the filter's reasons by session.
	mistakes map[string]string
	count    Count
}

type pick struct {
	choose.Row
	task, failure string
	wanted        bool
	times         int
}

func (s *source) left() []*pick {
	var out []*pick
	for i := range s.picks {
		if s.picks[i].Reason == "" {
			out = append(out, &s.picks[i])
		}
	}
	return out
}

// reject says why a row may not be taken, whatever the others are; empty where
// it may.
func (w *work) reject(s *source, v *view) string {
	if reason := w.protection.check(v); reason != "" {
		return reason
	}
	switch {
	case s.count.Source != fromCorpus && v.wanted < w.recipe.MinReward:
		return reasonReward
	case w.recipe.Profile == corpus.ProfilePref && v.wanted == 0:
		return reasonOutcome
	case w.recipe.Teacher && len(w.teachers[v.ProblemID]) == 0:
		return reasonTeacher
	}
	return ""
}

func (w *work) settle() {
	if w.recipe.Profile == corpus.ProfileKTO {
		w.bothSides()
	}
	if w.recipe.CorpusShare > 0 {
		w.apart()
		w.share()
	}
	for _, s := range w.sources {
		for i := range s.picks {
			w.add(s, &s.picks[i])
		}
	}
}

func (w *work) add(s *source, p *pick) {
	s.count.In++
	if p.Reason != "" {
		s.count.Dropped[p.Reason]++
		return
	}
	p.times = 1
	if p.task == "voucher" {
		p.times = w.recipe.VoucherTimes
	}
	s.count.Taken++
	s.count.Rows += int64(p.times)
	if reason := s.mistakes[p.failure]; reason != "" {
		s.count.Mistakes[reason]++
	}
}

// bothSides keeps the problems that have a success and a failure.
func (w *work) bothSides() {
	for _, s := range w.sources {
		won, lost := map[string]bool{}, map[string]bool{}
		for _, p := range s.left() {
			won[p.Request] = won[p.Request] || p.wanted
			lost[p.Request] = lost[p.Request] || !p.wanted
		}
		for _, p := range s.left() {
			if !won[p.Request] || !lost[p.Request] {
				p.Reason = reasonOneSided
			}
		}
	}
}

// apart drops rows of the corpus that say nearly what a rollout at the same
// problem says: a student repeats what it was trained on.
func (w *work) apart() {
	rollouts := choose.Thinner{Near: pipeline.Defaults().Select.Near}
	for _, p := range w.source(fromRollouts).left() {
		rollouts.Keep(&p.Row)
	}
	for _, p := range w.source(fromCorpus).left() {
		if rollouts.MarkNearDuplicate(&p.Row) {
			p.Reason = choose.ReasonNear
		}
	}
}

// share cuts the larger side, so that the corpus has its share of all rows. No
// row is repeated for it: the smaller side says how much there is.
func (w *work) share() {
	var rows []*choose.Row
	for i, name := range []string{fromRollouts, fromCorpus} {
		for _, p := range w.source(name).left() {
			p.Source, p.Tokens = i, 1
			rows = append(rows, &p.Row)
		}
	}
	slices.SortFunc(rows, func(a, b *choose.Row) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Source, b.Source)) })
	choose.TrimToWeights(rows, []float64{1 - w.recipe.CorpusShare, w.recipe.CorpusShare}, reasonShare)
}

// The stages of a recipe.
const (
	stageProtect = "protect"
	stageChoose  = "choose"
)

func (w *work) funnel() ([]corpus.Stage, error) {
	var fates []choose.Decision
	for _, s := range w.sources {
		for _, p := range s.picks {
			f := choose.Decision{Reason: p.Reason}
			switch p.Reason {
			case "":
			case reasonPool, reasonLeak:
				f.Stage = stageProtect
			default:
				f.Stage = stageChoose
			}
			fates = append(fates, f)
		}
	}
	return choose.Funnel([]string{stageProtect, stageChoose}, fates)
}
