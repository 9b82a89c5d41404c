// Package checks is the catalogue of the filter: what is measured of an attempt, and
// when it speaks against it.
package checks

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// Limits are those limits of the configuration that a check compares with.
type Limits struct {
	MaxTokens int
}

// Check is one entry of the catalogue: what is measured, and when it speaks
// against an attempt.
type Check struct {
	// Name is versioned: another formula is another name.
	Name string
	// Doc says in one sentence what the check finds.
	Doc string
	// Value and Limit say what the two numbers of its verdict mean.
	Value string
	Limit string
	// Reason is the stable word that a reject by this check gives.
	Reason string

	Measure func(a *evidence.Attempt, limits *Limits) (value, limit float64)
	// above is true where values over the limit fire, else those under it.
	above bool
	// Rejects reports whether the check drops an attempt by itself. The others are
	// evidence: they name how a scripted attempt was made.
	Rejects bool
	// Mistake reports whether a reject tells of the model's own doing: the record is
	// whole and honest, and shows what not to do.
	Mistake bool
}

// Fires never fires on a value that could not be measured.
func (c *Check) Fires(value, limit float64) bool {
	if math.IsNaN(value) {
		return false
	}
	if c.above {
		return value > limit
	}
	return value < limit
}

// All is every check in the order in which it is reported.
var All = []Check{
	{Name: "finished_v1", Doc: "The attempt ended well and left a dialogue.", Reason: "attempt_failed",
		Value: "1 if the sandbox saw it succeed", Limit: "1", Rejects: true,
		Measure: func(a *evidence.Attempt, _ *Limits) (value, limit float64) {
			return evidence.Flag(a.Trace.Status == arena.StatusSuccess && a.Trace.HasDialogue), 1
		}},
	{Name: "dialogue_v1", Doc: "The dialogue has at least one turn with a call.", Reason: "empty_dialogue",
		Value: "turns that call a tool", Limit: "least turns", Rejects: true,
		Measure: func(a *evidence.Attempt, _ *Limits) (value, limit float64) { return float64(a.CallTurns), 1 }},
	{Name: "call_count_v1", Doc: "The attempt is small enough to be examined whole.", Reason: "too_many_calls",
		Value: "calls of the dialogue or entries of the log", Limit: "most calls", above: true, Rejects: true, Measure: size},
	{Name: "answered_calls_v1", Doc: "Every tool call is answered.", Reason: "unanswered_call",
		Value: "calls without a result", Limit: "most such calls", above: true, Rejects: true, Measure: unanswered},
	{Name: "one_recommendation_v1", Doc: "There is exactly one recommendation.", Reason: "recommend_count",
		Value: "distance of the number of recommend_product calls from 1", Limit: "greatest distance", above: true, Rejects: true, Mistake: true, Measure: recommendations},
	{Name: "token_length_v1", Doc: "The dialogue fits the training context.", Reason: "too_long",
		Value: "tokens, counted as bytes / 4", Limit: "max_tokens", above: true, Rejects: true, Measure: tokens},
	{Name: "ends_in_thought_v1", Doc: "The last turn does more than think.", Reason: "ends_on_think",
		Value: "1 if the last turn only thinks", Limit: "0", above: true, Rejects: true, Measure: endsInThought},
	{Name: "judge_orders_v1", Doc: "The agent's own text orders its judge about.", Reason: "orders_the_judge",
		Value: "passages that order a judge", Limit: "most such passages", above: true, Rejects: true, Measure: judgeOrders},
	{Name: "invented_id_v1", Doc: "A call names a product that no result before it held.", Reason: "invented_id",
		Value: "such products", Limit: "most such products", above: true, Rejects: true, Mistake: true,
		Measure: func(a *evidence.Attempt, _ *Limits) (value, limit float64) { return float64(a.Invented), 0 }},

	{Name: "no_inference_v2", Doc: "Calls were made without asking any model, or without any that returned text.", Reason: "no_inference",
		Value: "chat completions that may have said something, by log or sandbox count", Limit: "least completions", Measure: asked},
	{Name: "named_dispatches_v1", Doc: "Replies name too few of the dispatches with their arguments.", Reason: "unnamed_dispatches",
		Value: "share of decided dispatches that a reply named", Limit: "least share",
		Measure: func(a *evidence.Attempt, _ *Limits) (value, limit float64) { return a.Richness(), 2.0 / 3 }},
	{Name: "overridden_calls_v1", Doc: "The model names one call and another is dispatched.", Reason: "overridden_calls",
		Value: "dispatches whose tool was named with other arguments", Limit: "most such dispatches", above: true,
		Measure: func(a *evidence.Attempt, _ *Limits) (value, limit float64) {
			return float64(a.Links[evidence.LinkOverride]), 0
		}},
	{Name: "model_only_labels_v1", Doc: "The model is asked but never names a call: it labels, ranks, extracts or chats.", Reason: "model_only_labels",
		Value: "readable replies that name a call", Limit: "least replies", Measure: onlyLabels},
	{Name: "unnamed_recommendation_v1", Doc: "No reply named the final recommendation.", Reason: "unnamed_recommendation",
		Value: "1 if a reply named it", Limit: "1", Measure: recommendationNamed},
	{Name: "looked_up_answer_v1", Doc: "A product is recommended or opened that only the program can have known.", Reason: "looked_up_answer",
		Value: "products no result held and no reply named, or named before any result", Limit: "most such products", above: true,
		Measure: func(a *evidence.Attempt, _ *Limits) (value, limit float64) {
			return float64(a.Invented - a.InventedNamed + a.Prescient), 0
		}},
	{Name: "fabricated_result_v1", Doc: "The dialogue shows results that the proxy never returned.", Reason: "fabricated_result",
		Value: "results without a dispatch", Limit: "most such results", above: true,
		Measure: func(a *evidence.Attempt, _ *Limits) (value, limit float64) { return float64(a.Phantoms), 0 }},
	{Name: "edited_result_v1", Doc: "A result in the dialogue differs from the one that the proxy returned.", Reason: "edited_result",
		Value: "results that differ", Limit: "most such results", above: true,
		Measure: func(a *evidence.Attempt, _ *Limits) (value, limit float64) { return float64(a.Edits), 0 }},
	{Name: "hidden_dispatches_v1", Doc: "The proxy saw requests that the dialogue does not show.", Reason: "hidden_dispatches",
		Value: "share of dispatches missing from the dialogue", Limit: "greatest share", above: true,
		Measure: func(a *evidence.Attempt, _ *Limits) (value, limit float64) {
			return evidence.Share(a.Hidden, len(a.Log.Dispatches)), 1.0 / 3
		}},
	{Name: "impossible_times_v1", Doc: "The log's times cannot be true.", Reason: "impossible_times",
		Value: "impossible entries", Limit: "most such entries", above: true,
		Measure: func(a *evidence.Attempt, _ *Limits) (value, limit float64) { return float64(a.Impossible), 0 }},
	{Name: "forged_replies_v1", Doc: "Recorded replies cannot be a server's: all equally quick, or quicker than any model writes.", Reason: "forged_replies",
		Value: "how many of the two hold", Limit: "most of them", above: true,
		Measure: func(a *evidence.Attempt, _ *Limits) (value, limit float64) { return float64(a.Forged), 0 }},
	{Name: "bad_nonce_v1", Doc: "Dispatches carry a nonce that is not theirs.", Reason: "bad_nonce",
		Value: "share of dispatches with a valid nonce", Limit: "least share", Measure: nonces},
	{Name: "copied_inference_v1", Doc: "The log holds the same reply more than once.", Reason: "copied_inference",
		Value: "copies", Limit: "most copies", above: true, Measure: copies},
	{Name: "counts_disagree_v1", Doc: "The sandbox counted another number of inference calls than the log holds.", Reason: "counts_disagree",
		Value: "difference", Limit: "greatest difference", above: true, Measure: countGap},
}

// Mistake reports whether a reject with this reason tells of the model's own doing
// in an attempt that is whole: what it invented or did not recommend.
func Mistake(reason string) bool {
	return slices.ContainsFunc(All, func(c Check) bool { return c.Mistake && c.Reason == reason })
}

// size stops counting at the bound, so a value above the limit says "more".
func size(a *evidence.Attempt, _ *Limits) (value, limit float64) {
	if a.Pad.Full {
		return evidence.MaxCalls, evidence.MaxCalls - 1
	}
	return float64(max(len(a.Claims), len(a.Log.Dispatches)+a.Log.Asked)), evidence.MaxCalls - 1
}

func unanswered(a *evidence.Attempt, _ *Limits) (value, limit float64) {
	n := 0
	for i := range a.Claims {
		if k := a.Claims[i].Call.Result.Kind(); k == arena.Absent || k == arena.Null {
			n++
		}
	}
	return float64(n), 0
}

func recommendations(a *evidence.Attempt, _ *Limits) (value, limit float64) {
	n := 0
	for i := range a.Claims {
		if a.Claims[i].Act.Tool == evidence.ToolRecommend {
			n++
		}
	}
	return math.Abs(float64(n - 1)), 0
}

func tokens(a *evidence.Attempt, limits *Limits) (value, limit float64) {
	return float64(a.Tokens), float64(limits.MaxTokens)
}

func endsInThought(a *evidence.Attempt, _ *Limits) (value, limit float64) {
	turns := a.Dialogue.Turns
	if len(turns) == 0 {
		return 0, 0
	}
	last := &turns[len(turns)-1]
	return evidence.Flag(last.User == "" && last.Text == "" && len(last.Calls) == 0), 0
}

func judgeOrders(a *evidence.Attempt, _ *Limits) (value, limit float64) {
	n := 0
	for i := range a.Dialogue.Turns {
		n += orders(a.Dialogue.Turns[i].Think) + orders(a.Dialogue.Turns[i].Text)
	}
	return float64(n), 0
}

func asked(a *evidence.Attempt, _ *Limits) (value, limit float64) {
	if !a.Log.Present && a.Trace.InferenceTotal < 0 {
		return math.NaN(), 1
	}
	return float64(a.Inference), 1
}

func onlyLabels(a *evidence.Attempt, _ *Limits) (value, limit float64) {
	if a.Readable == 0 {
		return math.NaN(), 1
	}
	return float64(a.Naming), 1
}

func recommendationNamed(a *evidence.Attempt, _ *Limits) (value, limit float64) {
	if a.Recommended == nil || a.Readable == 0 || a.Readable < len(a.Log.Replies) && !a.RecommendationNamed {
		return math.NaN(), 1
	}
	return evidence.Flag(a.RecommendationNamed), 1
}

func nonces(a *evidence.Attempt, _ *Limits) (value, limit float64) {
	if v := a.Log.RichnessV2(); v >= 0 {
		return v, 1
	}
	return math.NaN(), 1
}

func copies(a *evidence.Attempt, _ *Limits) (value, limit float64) {
	n := 0
	for i := range a.Log.Replies {
		if a.Log.Replies[i].Copied {
			n++
		}
	}
	return float64(n), 0
}

// countGap allows the failures that one of the two may leave out.
func countGap(a *evidence.Attempt, _ *Limits) (value, limit float64) {
	limit = float64(max(a.Trace.InferenceFailures, 0))
	if a.Trace.InferenceTotal < 0 || !a.Log.Present {
		return math.NaN(), limit
	}
	return math.Abs(float64(a.Trace.InferenceTotal - a.Log.Asked)), limit
}
