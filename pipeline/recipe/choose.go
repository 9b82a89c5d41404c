package recipe

import (
	"cmp"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Count counts the rows of one source.
type Count struct {
	// Source is rollouts, rewritten or corpus.
	Source string `json:"source"`
	// In = Taken + the sum of Dropped. Rows includes the copies of taken rows.
	In      int64            `json:"in"`
	Dropped map[string]int64 `json:"dropped"`
	Taken   int64            `json:"taken"`
	Rows    int64            `json:"rows"`
	// Mistakes counts the taken rows with a failure that the filter attributes to a mistake
	// of the student, such as invented_id, by that reason.
	Mistakes map[string]int64 `json:"mistakes,omitempty"`
}

// The names of the corpora from which a recipe takes rows.
const (
	sourceRollouts  = "rollouts"
	sourceRewritten = "rewritten"
	sourceCorpus    = "corpus"
)

// The codes of the reasons for which a recipe drops rows, in addition to those of type protection.
const (
	reasonReward   = "below_min_reward"  // the reward is under min_reward
	reasonOutcome  = "same_outcome"      // both attempts of the pair have the same outcome
	reasonOneSided = "one_sided_problem" // the problem has only successes or only failures
	reasonTeacher  = "no_teacher"        // no teacher solved the problem
	reasonShare    = "over_share"        // its source already has its share of the rows
)

type source struct {
	*finish.Source
	picks []pick
	// mistakes has, by the ID of an attempt, the filter's reason that names a mistake of the model.
	mistakes map[string]string
	count    Count
}

// pick is what a recipe keeps in memory of one row of a source: the properties that the decision on
// the row needs, and the decision.
type pick struct {
	choose.Row
	task    string
	failure string // the session of the failed attempt, empty if there is none
	wanted  bool
	times   int // the number of copies that are written
}

// remaining returns, in order, the rows of the source that have not been dropped so far.
func (s *source) remaining() []*pick {
	var out []*pick
	for i := range s.picks {
		if s.picks[i].Reason == "" {
			out = append(out, &s.picks[i])
		}
	}
	return out
}

// rejectReason returns the reason why a recipe may not take a row, independent of other rows: its
// problem is protected, its reward is too low, the two attempts of its pair have equal outcomes, or
// no teacher solved its problem. It returns "" if the row may be taken.
func (w *work) rejectReason(s *source, v *view) string {
	if reason := w.protection.check(v); reason != "" {
		return reason
	}
	switch {
	case s.count.Source != sourceCorpus && v.wanted < w.recipe.MinReward:
		return reasonReward
	case w.recipe.Profile == corpus.ProfilePref && v.wanted == 0:
		return reasonOutcome
	case w.recipe.Teacher && len(w.teachers[v.ProblemID]) == 0:
		return reasonTeacher
	}
	return ""
}

// decide drops rows because of other rows, and counts the rows of all sources. For profile kto, it
// drops the problems at which all attempts succeeded or all failed. If the recipe mixes the
// student's own attempts (rollouts) with rows of the corpus, it drops near-duplicates and the rows
// beyond the share of either.
func (w *work) decide() {
	if w.recipe.Profile == corpus.ProfileKTO {
		w.dropOneSided()
	}
	if w.recipe.CorpusShare > 0 {
		w.dropNearRollouts()
		w.trimToShare()
	}
	for _, s := range w.sources {
		for i := range s.picks {
			w.count(s, &s.picks[i])
		}
	}
}

// count counts a row as taken or dropped by the recipe. It also sets p.times, the number of times
// that the row is written.
func (w *work) count(s *source, p *pick) {
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

// dropOneSided drops, in each source, the rows of problems at which all attempts succeeded or all
// failed, since there is nothing to compare.
func (w *work) dropOneSided() {
	for _, s := range w.sources {
		won := map[string]bool{}
		lost := map[string]bool{}
		for _, p := range s.remaining() {
			won[p.Request] = won[p.Request] || p.wanted
			lost[p.Request] = lost[p.Request] || !p.wanted
		}
		for _, p := range s.remaining() {
			if !won[p.Request] || !lost[p.Request] {
				p.Reason = reasonOneSided
			}
		}
	}
}

// dropNearRollouts drops rows of the corpus that are near-duplicates of a rollout (an attempt that
// the student model made) at the same problem. They occur because a student repeats what it was
// trained on.
func (w *work) dropNearRollouts() {
	rollouts := choose.Thinner{Near: pipeline.Defaults().Select.Near}
	for _, p := range w.source(sourceRollouts).remaining() {
		rollouts.Keep(&p.Row)
	}
	for _, p := range w.source(sourceCorpus).remaining() {
		if rollouts.MarkNearDuplicate(&p.Row) {
			p.Reason = choose.ReasonNear
		}
	}
}

// trimToShare drops rows, either the student's own attempts (rollouts) or rows of the corpus, until
// the corpus has its configured share of all rows. No row is repeated: the source with too few rows
// for its share determines the total.
func (w *work) trimToShare() {
	var rows []*choose.Row
	for i, name := range []string{sourceRollouts, sourceCorpus} {
		for _, p := range w.source(name).remaining() {
			p.Source = i
			p.Tokens = 1
			rows = append(rows, &p.Row)
		}
	}
	slices.SortFunc(rows, func(a, b *choose.Row) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Source, b.Source))
	})
	weights := []float64{1 - w.recipe.CorpusShare, w.recipe.CorpusShare}
	choose.TrimToWeights(rows, weights, reasonShare)
}

// The names of the stages at which a recipe drops rows.
const (
	stageProtect = "protect"
	stageChoose  = "choose"
)

func (w *work) funnel() ([]corpus.Stage, error) {
	var decisions []choose.Decision
	for _, s := range w.sources {
		for _, p := range s.picks {
			d := choose.Decision{Reason: p.Reason}
			switch p.Reason {
			case "":
			case reasonPool, reasonLeak:
				d.Stage = stageProtect
			default:
				d.Stage = stageChoose
			}
			decisions = append(decisions, d)
		}
	}
	return choose.Funnel([]string{stageProtect, stageChoose}, slices.Values(decisions))
}
