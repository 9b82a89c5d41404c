// Package steps labels the steps of an attempt for process supervision without
// asking a model: a step was needed if it moved the attempt towards the
// products that it finally recommended.
package steps

import (
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

// Name is the versioned name of the rule.
const Name = "steps_v1"

// Reason is a stable word for why a call was needed, or was waste.
type Reason string

// The reasons for which a call is needed.
const (
	// Returned: the first result that holds a product finally recommended.
	Returned Reason = "returned_recommended"
	// Opened: the first page of a product finally recommended.
	Opened Reason = "opened_recommended"
	// Checked: the first check of a product finally recommended, or the last
	// total before the recommendation.
	Checked Reason = "checked_recommended"
	// Recommended: the recommendation that counts, the last.
	Recommended Reason = "recommended"
	// Ended: the first terminate after it.
	Ended Reason = "ended"
)

// The reasons for which a call or a step is waste.
const (
	Repeated   Reason = "repeated_call"
	Missed     Reason = "nothing_recommended_in_result"
	KnownOnly  Reason = "nothing_new_in_result"
	Superseded Reason = "superseded_recommendation"
	AfterEnd   Reason = "after_the_end"
	Unanswered Reason = "unanswered_call"
	NoCall     Reason = "no_call"
	NoGoal     Reason = "nothing_recommended"
)

// Judge labels every turn of the model in order, by its own number in the dialogue: a
// step is needed if any of its calls is, and the reason is that of the call which
// decides. Where the attempt recommends nothing, there is nothing to move towards
// and no step is needed. It fails only where the attempt left no step.
func Judge(t *arena.Trace, d *arena.Dialogue) arena.StepJudgement {
	out := arena.StepJudgement{Judgement: arena.Judgement{Judge: Name, Outcome: arena.JudgeScored}}
	w := newWalk(d)
	for i := range d.Turns {
		turn := &d.Turns[i]
		if turn.User != "" {
			continue
		}
		v := arena.StepVerdict{Step: t.StepNumber(turn.Step), Need: arena.StepWaste, Reason: string(NoCall)}
		for k := range turn.Calls {
			c := &turn.Calls[k]
			needed, why := w.judge(place{i, k}, c)
			w.made[c.Name+string(c.Arguments)] = true
			if k == 0 || needed && v.Need == arena.StepWaste {
				v.Reason = string(why)
			}
			if needed {
				v.Need = arena.StepNeeded
			}
		}
		out.Steps = append(out.Steps, v)
	}
	if len(out.Steps) == 0 {
		out.Outcome, out.Detail = arena.JudgeFailed, "the attempt left no step to judge"
	}
	return out
}

type place struct{ turn, call int }

// walk goes through the calls with what the attempt already knows.
type walk struct {
	goal []string
	// last are the places of the recommendation that counts and of the last
	// total before it.
	recommend, total place
	returned, opened map[string]bool
	checked          map[string]bool
	made             map[string]bool
	ended            bool
}

var nowhere = place{-1, -1}

func newWalk(d *arena.Dialogue) *walk {
	w := &walk{recommend: nowhere, total: nowhere, returned: map[string]bool{}, opened: map[string]bool{},
		checked: map[string]bool{}, made: map[string]bool{}}
	total := nowhere
	for i := range d.Turns {
		for k := range d.Turns[i].Calls {
			switch call := &d.Turns[i].Calls[k]; call.Name {
			case calls.Recommend:
				w.goal, w.recommend, w.total = calls.Recommended(*call), place{i, k}, total
			case "calculate_voucher":
				total = place{i, k}
			}
		}
	}
	return w
}

func (w *walk) judge(at place, c *arena.Call) (needed bool, why Reason) {
	switch {
	case len(w.goal) == 0:
		return false, NoGoal
	case w.ended:
		return false, AfterEnd
	case c.Name == "terminate":
		w.ended = true
		return true, Ended
	case at == w.recommend:
		return true, Recommended
	case c.Name == calls.Recommend:
		return false, Superseded
	case w.made[c.Name+string(c.Arguments)]:
		return false, Repeated
	case c.Result.Kind() == arena.Absent:
		return false, Unanswered
	case c.Name == "calculate_voucher" && at == w.total:
		return true, Checked
	case c.Name == "calculate_voucher":
		return false, Missed
	case c.Name == "view_product_information":
		return w.first(w.opened, c, Opened)
	case c.Name == "check_product_match":
		return w.first(w.checked, c, Checked)
	default:
		return w.first(w.returned, c, Returned)
	}
}

// first needs a call whose result holds a recommended product that no call of
// its kind held before.
func (w *walk) first(known map[string]bool, c *arena.Call, as Reason) (needed bool, why Reason) {
	why = Missed
	held := ids(string(c.Result))
	if as == Checked {
		held = ids(string(c.Arguments))
	}
	for _, id := range w.goal {
		switch {
		case held[id] && !known[id]:
			known[id], needed, why = true, true, as
		case held[id] && why == Missed:
			why = KnownOnly
		}
	}
	return needed, why
}

// maxIDs bounds the ids read of one result.
const maxIDs = 4096

// ids are the words of a JSON text that could be product ids: runs of letters,
// digits, - and _ with a digit in them.
func ids(text string) map[string]bool {
	found := map[string]bool{}
	notID := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	for word := range strings.FieldsFuncSeq(text, notID) {
		if len(found) < maxIDs && strings.ContainsAny(word, "0123456789") {
			found[word] = true
		}
	}
	return found
}
