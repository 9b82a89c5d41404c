// Package steps labels the steps of an attempt for process supervision without asking
// a model: a step was needed if it moved the attempt towards the products that it
// finally recommended.
package steps

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/shopcalls"
)

// Name is the versioned name of the rule.
const Name = "steps_v2"

// Reason is a stable code for why a call was needed or wasted.
type Reason string

// The reasons for which a call is needed.
const (
	// Returned: the first result with a product finally recommended.
	Returned Reason = "returned_recommended"
	// Opened: the first page of a product finally recommended.
	Opened Reason = "opened_recommended"
	// Checked: the first check of a product finally recommended, or the last total
	// before the recommendation.
	Checked Reason = "checked_recommended"
	// Recommended: the recommendation that counts, the last one.
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
)

// The reasons for which it is unclear whether a call was needed.
const (
	// NoGoal: the attempt recommends nothing.
	NoGoal Reason = "nothing_recommended"
	// UnknownTool: the tool is none of the shop's, and its result shows no product finally recommended.
	UnknownTool Reason = "unknown_tool"
)

// tools are the tools of which a call can be judged as waste, such as a search. What other tools do
// is not known: one may choose a colour or put a product into a cart.
var tools = []string{
	"find_product",
	"find_products_in_same_shop",
	"view_product_information",
	"check_product_match",
	"calculate_voucher",
	shopcalls.Answer,
	"terminate",
}

// Judge returns a verdict on every turn of the model in order, by its number in the
// dialogue. A step is needed if any of its calls is, unclear if it has none that is needed and one
// that is unclear, and otherwise waste. Its reason is that of the first call with the step's
// verdict. If the attempt recommends nothing, every step is unclear. Judge fails only if
// the attempt has no step.
func Judge(t *arena.Trace, d *arena.Dialogue) arena.StepJudgement {
	out := arena.StepJudgement{Judgement: arena.Judgement{
		Judge:   Name,
		Outcome: arena.JudgeScored,
	}}
	l := newLabeler(d)
	for i := range d.Turns {
		turn := &d.Turns[i]
		if turn.User != "" {
			continue
		}
		v := arena.StepVerdict{
			Step:   t.StepNumber(turn.Step),
			Need:   arena.StepWaste,
			Reason: string(NoCall),
		}
		if len(l.goal) == 0 {
			v.Need = arena.StepUnclear
			v.Reason = string(NoGoal)
		}
		for k := range turn.Calls {
			c := &turn.Calls[k]
			need, reason := l.label(position{i, k}, c)
			l.calls[c.Name+string(c.Arguments)] = true
			if k == 0 || weight[need] > weight[v.Need] {
				v.Need = need
				v.Reason = string(reason)
			}
		}
		out.Steps = append(out.Steps, v)
	}
	if len(out.Steps) == 0 {
		out.Outcome = arena.JudgeFailed
		out.Detail = "the attempt left no step to judge"
	}
	return out
}

// weight orders the verdicts on a call: waste, unclear, needed. A step with several calls gets the
// verdict with the highest rank.
var weight = map[arena.Need]int{arena.StepWaste: 0, arena.StepUnclear: 1, arena.StepNeeded: 2}

// position is the position of a call in a dialogue: the index of its turn and its index in the
// turn.
type position struct{ turn, call int }

// noPosition is the position of a call that does not exist.
var noPosition = position{-1, -1}

// labeler decides for the calls of a dialogue, in order, whether each was needed.
type labeler struct {
	// goal are the ids of the products that the attempt recommended last.
	goal []string
	// recommend is the position of the last recommendation, total that of the last voucher
	// calculation before it.
	recommend, total position
	// returned, opened and checked are the products of goal that earlier calls returned, opened and
	// checked. calls are the earlier calls, by name and arguments.
	returned, opened map[string]bool
	checked          map[string]bool
	calls            map[string]bool
	// ended is set after the first call of terminate.
	ended bool
}

func newLabeler(d *arena.Dialogue) *labeler {
	l := &labeler{
		recommend: noPosition,
		total:     noPosition,
		returned:  map[string]bool{},
		opened:    map[string]bool{},
		checked:   map[string]bool{},
		calls:     map[string]bool{},
	}
	total := noPosition
	for i := range d.Turns {
		for k := range d.Turns[i].Calls {
			switch call := &d.Turns[i].Calls[k]; call.Name {
			case shopcalls.Answer:
				l.goal = shopcalls.AnswerIDs(*call)
				l.recommend = position{i, k}
				l.total = total
			case "calculate_voucher":
				total = position{i, k}
			}
		}
	}
	return l
}

// label returns whether the call at a position of the dialogue was needed, unclear or waste, and
// the reason. It must be called for the calls in order.
func (l *labeler) label(p position, c *arena.Call) (arena.Need, Reason) {
	if len(l.goal) == 0 {
		return arena.StepUnclear, NoGoal
	}
	if l.ended {
		return arena.StepWaste, AfterEnd
	}
	needed, reason := l.labelInTime(p, c)
	switch {
	case needed:
		return arena.StepNeeded, reason
	case !slices.Contains(tools, c.Name):
		return arena.StepUnclear, UnknownTool
	default:
		return arena.StepWaste, reason
	}
}

// labelInTime reports whether a call was needed, and the reason. It is for calls up to the one by
// which the agent ended the attempt, that one included.
func (l *labeler) labelInTime(p position, c *arena.Call) (needed bool, reason Reason) {
	switch {
	case c.Name == "terminate":
		l.ended = true
		return true, Ended
	case p == l.recommend:
		return true, Recommended
	case c.Name == shopcalls.Answer:
		return false, Superseded
	case l.calls[c.Name+string(c.Arguments)]:
		return false, Repeated
	case c.Result.Kind() == arena.Absent:
		return false, Unanswered
	}
	switch c.Name {
	case "calculate_voucher":
		if p == l.total {
			return true, Checked
		}
		return false, Missed
	case "view_product_information":
		return l.labelProducts(l.opened, ids(string(c.Result)), Opened)
	case "check_product_match":
		return l.labelProducts(l.checked, ids(string(c.Arguments)), Checked)
	default:
		return l.labelProducts(l.returned, ids(string(c.Result)), Returned)
	}
}

// labelProducts reports whether a call was needed because of the products in its result or
// arguments, whose ids mentioned has. It was, for the given reason, if one of them was finally
// recommended and is not in known, the products that earlier calls had already; labelProducts adds
// it to known. Otherwise the reason is KnownOnly if a recommended product was known already, or
// Missed if none is mentioned.
func (l *labeler) labelProducts(known, mentioned map[string]bool, reason Reason) (bool, Reason) {
	needed := false
	mentions := false
	for _, id := range l.goal {
		if !mentioned[id] {
			continue
		}
		mentions = true
		if !known[id] {
			known[id] = true
			needed = true
		}
	}
	switch {
	case needed:
		return true, reason
	case mentions:
		return false, KnownOnly
	default:
		return false, Missed
	}
}

// maxIDs is the maximum number of different product ids that are read from one tool result.
const maxIDs = 4096

// ids returns the words of a JSON text that may be product ids: runs of ASCII letters, digits, -
// and _ that contain a digit.
func ids(text string) map[string]bool {
	words := map[string]bool{}
	isSeparator := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	for word := range strings.FieldsFuncSeq(text, isSeparator) {
		if len(words) < maxIDs && strings.ContainsAny(word, "0123456789") {
			words[word] = true
		}
	}
	return words
}
