package filters

import (
	"math"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/stats"
)

// rule adds to the log-odds that the model itself decided the calls. The sum
// of all rules is the score: above 0 agentic, below 0 scripted.
type rule struct {
	name string
	// reason is the stable word that a scripted attempt gets of it, doc what it then
	// finds; empty for a rule that only speaks for the model.
	reason, doc string
	why         string
	odds        func(a *evidence.Attempt) float64
}

// rules is the whole decision of the first pass. A single proof (no inference,
// a result that never came) outweighs every sign to the contrary; the rest
// counts dispatches one by one.
var rules = []rule{
	{"no_inference", "no_inference", "Calls were made without asking any model, or without any that returned text.",
		"calls were made and no model was asked, or none returned text: nothing can speak against it",
		func(a *evidence.Attempt) float64 {
			return when(-12, a.Inference == 0 && a.Log.Present && len(a.Log.Dispatches)+len(a.Claims) > 0)
		}},
	{"named", "", "",
		"+1 for each dispatch that a reply named with these arguments, at most 5: one match may be chance, a habit of matching is not; more add nothing that a puppet could not add too",
		func(a *evidence.Attempt) float64 {
			return math.Min(float64(a.Links[evidence.LinkNamed]+a.Links[evidence.LinkDerived])+float64(0.7*float64(a.Links[evidence.LinkLoose])), 5)
		}},
	{"unnamed", "unnamed_dispatches", "Replies do not name dispatches with their arguments, or name others.",
		"-2.5 for each dispatch that readable replies did not name, -1 for one that only an older reply named: an honest client sends what the model wrote, so one such dispatch outweighs two named ones",
		func(a *evidence.Attempt) float64 {
			return float64(-2.5*float64(a.Links[evidence.LinkNone]+a.Links[evidence.LinkOverride]+a.Links[evidence.LinkNoReply])) - float64(a.Links[evidence.LinkStale])
		}},
	{"recommendation", "unnamed_recommendation", "No reply named the final recommendation.",
		"+1 where a reply named the final recommendation; where all replies can be read, -1.5 if none did, since clients have fall-backs, and -6 if one named other products: the answer is the call that is paid for, so swapping it outweighs naming all others",
		recommendation},
	{"fabricated", "fabricated_result", "The dialogue shows results that the proxy never returned, or returned otherwise.",
		"-12: a result that the proxy never returned makes the dialogue a story",
		func(a *evidence.Attempt) float64 { return when(-12, a.Phantoms+a.Edits > 0) }},
	{"told_id", "looked_up_answer", "A product is recommended or opened that only the program can have known.",
		"-12: a product in the dialogue that no result held and no reply named; the program put it there",
		func(a *evidence.Attempt) float64 {
			return when(-12, a.Log.Present && a.Readable == len(a.Log.Replies) && a.Invented > a.InventedNamed)
		}},
	{"prescient", "looked_up_answer", "A product is recommended or opened that only the program can have known.",
		"-8 where a reply names a real product that no result had shown when it was asked for, -2 for each further reply that does, at most 4: no model knows an id of the shop, so a program told it or wrote the reply afterwards; more than naming everything else can add",
		func(a *evidence.Attempt) float64 {
			return when(-8-math.Min(2*float64(a.PrescientBy-1), 4), a.PrescientBy > 0)
		}},
	{"nonce", "bad_nonce", "Dispatches carry a nonce that is not theirs.",
		"-3 for a dispatch with a nonce that is not its own, +0.5 where all are valid: a program can pass a nonce on, but not make one",
		nonce},
	{"impossible_log", "impossible_times", "The log's times cannot be true.",
		"-3 where the log's times cannot be: what cannot have happened was written by hand",
		func(a *evidence.Attempt) float64 { return when(-3, a.Log.Impossible > 0) }},
	{"uncounted", "counts_disagree", "The log holds far more replies than the sandbox counted.",
		"-3 where the log holds at least twice as many replies as the sandbox counted, and three more: replies were written into it, or several clients count apart",
		func(a *evidence.Attempt) float64 {
			counted, held := a.Trace.InferenceTotal, len(a.Log.Replies)
			return when(-3, counted > 0 && held >= 2*counted && held >= counted+3)
		}},
	{"forged_replies", "forged_replies", "Recorded replies cannot be a server's: all equally quick, quicker than any model writes, or longer than the tokens counted of them.",
		"-8 where replies of different lengths all took the same time, came quicker than any model writes, or hold more text than the tokens counted of them: no server answers so, a hand that writes logs does",
		func(a *evidence.Attempt) float64 { return when(-8, a.Forged > 0) }},
}

func when(odds float64, holds bool) float64 {
	if holds {
		return odds
	}
	return 0
}

func recommendation(a *evidence.Attempt) float64 {
	switch {
	case a.Recommended == nil || len(a.Log.Replies) == 0:
		return 0
	case a.RecommendationNamed:
		return 1
	case a.Readable < len(a.Log.Replies):
		return 0
	case a.OtherAnswer():
		return -6
	case a.RecommendationHeard:
		return 0
	}
	return -1.5
}

func nonce(a *evidence.Attempt) float64 {
	valid := 0
	for i := range a.Log.Dispatches {
		switch a.Log.Dispatches[i].Call.Nonce {
		case evidence.NonceValid:
			valid++
		case "", "missing", "expired": // clients of older versions send none, slow ones late
		default:
			return -3
		}
	}
	return when(0.5, valid > 0 && valid == len(a.Log.Dispatches))
}

// logOdds sums the rules. evidence is false where nothing readable bears on
// the question, whatever the sum.
func logOdds(a *evidence.Attempt) (score float64, evidence bool) {
	if !a.Trace.HasDialogue || len(a.Dialogue.Turns) == 0 {
		return 0, false
	}
	for i := range rules {
		score += rules[i].odds(a)
	}
	return score, bears(a) || score <= proof
}

// bears reports whether anything readable bears on the question.
func bears(a *evidence.Attempt) bool {
	return !a.ClocksApart && a.Readable > 0 && (len(a.Log.Dispatches) > 0 || a.Recommended != nil)
}

// proof is a score that decides even where no reply can be read.
const proof = -6

// decide turns a score into an axis. Without evidence the record cannot tell, nor
// with as much on one side as on the other.
func decide(score float64, evidence bool) (arena.Axis, float64) {
	if !evidence || score == 0 {
		return arena.AxisUnknown, 0.5
	}
	p := min(max(stats.Logistic(slope*score), 1-surest), surest) // that the model decided
	if p > 0.5 {
		return arena.AxisAgentic, p
	}
	return arena.AxisScripted, 1 - p
}

// slope turns the score into calibrated log-odds; it was fitted on left-out
// families, see docs/measured/filter.md. surest is the most that the filter ever claims:
// one attempt in a hundred is as many as the labels it was held against allow.
const slope, surest = 0.9, 0.99
