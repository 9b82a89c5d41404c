package filters

import (
	"math"

	"github.com/trajectory-arena/arena"
)

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

	// measure sees one attempt; overDay one beside its agent's whole day, in the
	// second pass. A check has one of the two.
	measure func(a *attempt, cfg *Config) (value, limit float64)
	overDay func(f *Filter, s *Sample, a *AgentStats) (value, limit float64)
	// above is true where values over the limit fire, else those under it.
	above bool
	// rejects reports whether the check drops an attempt by itself. The others are
	// evidence: they name how a scripted attempt was made.
	rejects bool
	// mistake reports whether a reject tells of the model's own doing: the record is
	// whole and honest, and shows what not to do.
	mistake bool
}

// fires never fires on a value that could not be measured.
func (c *Check) fires(value, limit float64) bool {
	if math.IsNaN(value) {
		return false
	}
	if c.above {
		return value > limit
	}
	return value < limit
}

// Catalogue lists every check in the order in which it is reported.
func Catalogue() []Check { return append([]Check(nil), checks...) }

var checks = []Check{
	{Name: "finished_v1", Doc: "The attempt ended well and left a dialogue.", Reason: "attempt_failed",
		Value: "1 if the sandbox saw it succeed", Limit: "1", rejects: true, measure: finished},
	{Name: "dialogue_v1", Doc: "The dialogue has at least one turn with a call.", Reason: "empty_dialogue",
		Value: "turns that call a tool", Limit: "least turns", rejects: true, measure: acts},
	{Name: "call_count_v1", Doc: "The attempt is small enough to be examined whole.", Reason: "too_many_calls",
		Value: "calls of the dialogue or entries of the log", Limit: "most calls", above: true, rejects: true, measure: size},
	{Name: "answered_calls_v1", Doc: "Every tool call is answered.", Reason: "unanswered_call",
		Value: "calls without a result", Limit: "most such calls", above: true, rejects: true, measure: unanswered},
	{Name: "one_recommendation_v1", Doc: "There is exactly one recommendation.", Reason: "recommend_count",
		Value: "distance of the number of recommend_product calls from 1", Limit: "greatest distance", above: true, rejects: true, mistake: true, measure: recommendations},
	{Name: "token_length_v1", Doc: "The dialogue fits the training context.", Reason: "too_long",
		Value: "tokens, counted as bytes / 4", Limit: "max_tokens", above: true, rejects: true, measure: tokens},
	{Name: "ends_in_thought_v1", Doc: "The last turn does more than think.", Reason: "ends_on_think",
		Value: "1 if the last turn only thinks", Limit: "0", above: true, rejects: true, measure: endsInThought},
	{Name: "judge_orders_v1", Doc: "The agent's own text orders its judge about.", Reason: "orders_the_judge",
		Value: "passages that order a judge", Limit: "most such passages", above: true, rejects: true, measure: judgeOrders},
	{Name: "invented_id_v1", Doc: "A call names a product that no result before it held.", Reason: "invented_id",
		Value: "such products", Limit: "most such products", above: true, rejects: true, mistake: true, measure: invented},

	{Name: "no_inference_v2", Doc: "Calls were made without asking any model, or without any that returned text.", Reason: "no_inference",
		Value: "chat completions that may have said something, by log or sandbox count", Limit: "least completions", measure: asked},
	{Name: "named_dispatches_v1", Doc: "Replies name too few of the dispatches with their arguments.", Reason: "unnamed_dispatches",
		Value: "share of decided dispatches that a reply named", Limit: "least share", measure: namedShare},
	{Name: "overridden_calls_v1", Doc: "The model names one call and another is dispatched.", Reason: "overridden_calls",
		Value: "dispatches whose tool was named with other arguments", Limit: "most such dispatches", above: true, measure: overridden},
	{Name: "model_only_labels_v1", Doc: "The model is asked but never names a call: it labels, ranks, extracts or chats.", Reason: "model_only_labels",
		Value: "readable replies that name a call", Limit: "least replies", measure: onlyLabels},
	{Name: "mixed_phases_v1", Doc: "The model decides some calls, a program the others.", Reason: "mixed_phases",
		Value: "the smaller of named and unnamed dispatches", Limit: "most of them", above: true, measure: mixed},
	{Name: "replayed_plan_v1", Doc: "A plan is asked once and worked off.", Reason: "replayed_plan",
		Value: "replies that name calls, per turn that acts", Limit: "least share", measure: plan},
	{Name: "stale_naming_v1", Doc: "Dispatches follow replies that are no longer the last word.", Reason: "stale_naming",
		Value: "dispatches named by an older turn's reply", Limit: "most such dispatches", above: true, measure: stale},
	{Name: "narrated_after_v1", Doc: "Turns are recorded only after a model was asked to tell of a call already made.", Reason: "narrated_after",
		Value: "share of turns with a dispatch", Limit: "greatest share", above: true, measure: narrated},
	{Name: "unnamed_recommendation_v1", Doc: "No reply named the final recommendation.", Reason: "unnamed_recommendation",
		Value: "1 if a reply named it", Limit: "1", measure: recommendationNamed},
	{Name: "looked_up_answer_v1", Doc: "A product is recommended or opened that only the program can have known.", Reason: "looked_up_answer",
		Value: "products no result held and no reply named, or named before any result", Limit: "most such products", above: true, measure: lookedUp},
	{Name: "fabricated_result_v1", Doc: "The dialogue shows results that the proxy never returned.", Reason: "fabricated_result",
		Value: "results without a dispatch", Limit: "most such results", above: true, measure: phantomResults},
	{Name: "edited_result_v1", Doc: "A result in the dialogue differs from the one that the proxy returned.", Reason: "edited_result",
		Value: "results that differ", Limit: "most such results", above: true, measure: editedResults},
	{Name: "hidden_dispatches_v1", Doc: "The proxy saw requests that the dialogue does not show.", Reason: "hidden_dispatches",
		Value: "share of dispatches missing from the dialogue", Limit: "greatest share", above: true, measure: hiddenShare},
	{Name: "impossible_times_v1", Doc: "The log's times cannot be true.", Reason: "impossible_times",
		Value: "impossible entries", Limit: "most such entries", above: true, measure: times},
	{Name: "forged_replies_v1", Doc: "Recorded replies cannot be a server's: all equally quick, or quicker than any model writes.", Reason: "forged_replies",
		Value: "how many of the two hold", Limit: "most of them", above: true, measure: forgedWays},
	{Name: "bad_nonce_v1", Doc: "Dispatches carry a nonce that is not theirs.", Reason: "bad_nonce",
		Value: "share of dispatches with a valid nonce", Limit: "least share", measure: nonces},
	{Name: "copied_inference_v1", Doc: "The log holds the same reply more than once.", Reason: "copied_inference",
		Value: "copies", Limit: "most copies", above: true, measure: copies},
	{Name: "counts_disagree_v1", Doc: "The sandbox counted another number of inference calls than the log holds.", Reason: "counts_disagree",
		Value: "difference", Limit: "greatest difference", above: true, measure: countGap},
	{Name: "length_disagrees_v1", Doc: "A cut reply is too short to have held the call it is said to hold.", Reason: "length_disagrees",
		Value: "such replies", Limit: "most such replies", above: true, measure: lengthGap},

	{Name: "fixed_habit_v3", Doc: "Over the agent's day nothing depends on results: one sequence of tools, always the first products of a list, the first of them recommended.", Reason: "fixed_habit",
		Value: "0 to 1, how fixed all three are", Limit: "half", above: true,
		overDay: func(_ *Filter, _ *Sample, a *AgentStats) (value, limit float64) { return a.Fixed, 0.5 }},
	{Name: "fixed_plan_v3", Doc: "Over the agent's day one sequence of tools for requests of one size, or as many products opened each time with no way back from them or in one sequence of requests, and searches put together in one way, whatever came back.", Reason: "fixed_plan",
		Value: "0 to 1, how fixed both are", Limit: "half", above: true,
		overDay: func(_ *Filter, _ *Sample, a *AgentStats) (value, limit float64) { return a.Plan, 0.5 }},
	{Name: "sorted_choice_v1", Doc: "Over the agent's day products are opened strictly by price or by sales, out of lists in another order.", Reason: "sorted_choice",
		Value: "0 to 1, how sure that is", Limit: "half", above: true,
		overDay: func(_ *Filter, _ *Sample, a *AgentStats) (value, limit float64) { return a.Sorted, 0.5 }},
	{Name: "overriding_client_v2", Doc: "Over the agent's day the client replaces what replies ask for in most attempts, or turns replies down until one suits it.", Reason: "overriding_client",
		Value: "0 to 1, how sure that is", Limit: "half", above: true,
		overDay: func(_ *Filter, _ *Sample, a *AgentStats) (value, limit float64) { return a.overrides(), 0.5 }},
	{Name: "pasted_episode_v1", Doc: "The same calls answer different requests.", Reason: "pasted_episode",
		Value: "requests that this episode answers", Limit: "max_pastes", above: true,
		overDay: func(f *Filter, s *Sample, a *AgentStats) (value, limit float64) {
			return float64(a.pastes[s.Episode]), float64(f.cfg.MaxPastes)
		}},
	{Name: "template_thinking_v2", Doc: "Thinking is one template over the agent's day, with slots for numbers and for words of the request.", Reason: "template_thinking",
		Value: "share of thoughts before taking a product whose skeleton returns in other attempts, 0 where results reach the agent's calls", Limit: "greatest share", above: true,
		overDay: func(_ *Filter, _ *Sample, a *AgentStats) (value, limit float64) {
			return a.unread() * a.Templates, templateLimit
		}},
	{Name: "deaf_thinking_v1", Doc: "Over the agent's day products are taken after many words, none of them about results, and no call shows that results were read.", Reason: "deaf_thinking",
		Value: "0 to 1, how sure that is", Limit: "half", above: true,
		overDay: func(_ *Filter, _ *Sample, a *AgentStats) (value, limit float64) { return a.unread() * a.deaf(), 0.5 }},
	{Name: "request_queries_v1", Doc: "Over the agent's day searches are cut out of the request word for word, and no call shows that results were read.", Reason: "request_queries",
		Value: "share of such searches, lower bound of its 95 % interval", Limit: "greatest share", above: true,
		overDay: func(_ *Filter, _ *Sample, a *AgentStats) (value, limit float64) {
			cut, _ := a.Excerpts.Interval()
			return a.unread() * cut, excerptLimit
		}},
	{Name: "told_answers_v2", Doc: "The answer was known before the shop showed it: a recommended product that no result of the attempt held was found by others, or made-up products of the agent's day turned out to be real.", Reason: "told_answers",
		Value: "1 if one of the two holds", Limit: "0", above: true,
		overDay: func(_ *Filter, s *Sample, a *AgentStats) (value, limit float64) { return flag(a.told(s)), 0 }},
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func finished(a *attempt, _ *Config) (value, limit float64) {
	return flag(a.trace.Status == arena.StatusSuccess && a.trace.HasDialogue), 1
}

func acts(a *attempt, _ *Config) (value, limit float64) { return float64(a.callTurns), 1 }

// size stops counting at the bound, so a value above the limit says "more".
func size(a *attempt, _ *Config) (value, limit float64) {
	if a.pad.full {
		return maxCalls, maxCalls - 1
	}
	return float64(max(len(a.claims), len(a.log.dispatches)+a.log.asked)), maxCalls - 1
}

func unanswered(a *attempt, _ *Config) (value, limit float64) {
	n := 0
	for i := range a.claims {
		if k := a.claims[i].call.Result.Kind(); k == arena.Absent || k == arena.Null {
			n++
		}
	}
	return float64(n), 0
}

func recommendations(a *attempt, _ *Config) (value, limit float64) {
	n := 0
	for i := range a.claims {
		if a.claims[i].act.tool == toolRecommend {
			n++
		}
	}
	return math.Abs(float64(n - 1)), 0
}

func tokens(a *attempt, cfg *Config) (value, limit float64) {
	return float64(a.tokens), float64(cfg.MaxTokens)
}

func endsInThought(a *attempt, _ *Config) (value, limit float64) {
	turns := a.dialogue.Turns
	if len(turns) == 0 {
		return 0, 0
	}
	last := &turns[len(turns)-1]
	return flag(last.User == "" && last.Text == "" && len(last.Calls) == 0), 0
}

func judgeOrders(a *attempt, _ *Config) (value, limit float64) {
	n := 0
	for i := range a.dialogue.Turns {
		n += orders(a.dialogue.Turns[i].Think) + orders(a.dialogue.Turns[i].Text)
	}
	return float64(n), 0
}

func invented(a *attempt, _ *Config) (value, limit float64) {
	return float64(a.invented), 0
}

func asked(a *attempt, _ *Config) (value, limit float64) {
	if !a.log.present && a.trace.InferenceTotal < 0 {
		return math.NaN(), 1
	}
	return float64(a.inference), 1
}

func namedShare(a *attempt, _ *Config) (value, limit float64) { return a.richness(), 2.0 / 3 }

func overridden(a *attempt, _ *Config) (value, limit float64) {
	return float64(a.links[linkOverride]), 0
}

func onlyLabels(a *attempt, _ *Config) (value, limit float64) {
	if a.readable == 0 {
		return math.NaN(), 1
	}
	return float64(a.naming), 1
}

func mixed(a *attempt, _ *Config) (value, limit float64) {
	return float64(min(a.bound(), a.unbound())), 0
}

func plan(a *attempt, _ *Config) (value, limit float64) {
	if a.readable == 0 {
		return math.NaN(), 0.5
	}
	return share(a.naming+len(a.log.replies)-a.readable, a.callTurns), 0.5
}

func stale(a *attempt, _ *Config) (value, limit float64) { return float64(a.links[linkStale]), 0 }

func narrated(a *attempt, _ *Config) (value, limit float64) {
	return share(a.told, a.dispatchedTurns), 0
}

func recommendationNamed(a *attempt, _ *Config) (value, limit float64) {
	if a.recommended == nil || a.readable == 0 || a.readable < len(a.log.replies) && !a.recommendationNamed {
		return math.NaN(), 1
	}
	return flag(a.recommendationNamed), 1
}

func lookedUp(a *attempt, _ *Config) (value, limit float64) {
	return float64(a.invented - a.inventedNamed + a.prescient), 0
}

func phantomResults(a *attempt, _ *Config) (value, limit float64) {
	return float64(a.phantoms), 0
}

func editedResults(a *attempt, _ *Config) (value, limit float64) {
	return float64(a.edits), 0
}

func hiddenShare(a *attempt, _ *Config) (value, limit float64) {
	return share(a.hidden, len(a.log.dispatches)), 1.0 / 3
}

func times(a *attempt, _ *Config) (value, limit float64) {
	return float64(a.impossible), 0
}

func forgedWays(a *attempt, _ *Config) (value, limit float64) { return float64(a.forged), 0 }

func nonces(a *attempt, _ *Config) (value, limit float64) {
	if v := a.log.richnessV2(); v >= 0 {
		return v, 1
	}
	return math.NaN(), 1
}

func copies(a *attempt, _ *Config) (value, limit float64) {
	n := 0
	for i := range a.log.replies {
		if a.log.replies[i].copied {
			n++
		}
	}
	return float64(n), 0
}

// countGap allows the failures that one of the two may leave out.
func countGap(a *attempt, _ *Config) (value, limit float64) {
	limit = float64(max(a.trace.InferenceFailures, 0))
	if a.trace.InferenceTotal < 0 || !a.log.present {
		return math.NaN(), limit
	}
	return math.Abs(float64(a.trace.InferenceTotal - a.log.asked)), limit
}

func lengthGap(a *attempt, _ *Config) (value, limit float64) {
	return float64(a.disagree), 0
}
