package filters

import (
	"math"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/stats"
)

// rule is a test of who decided the tool calls of an attempt: the model or a program. Each rule
// adds to the attempt's log-odds. A positive sum means the model (agentic), a negative one a
// program (scripted).
type rule struct {
	name string
	// reason is the code of the rejection if this rule shows that a program made the calls. doc
	// is a sentence on what the rule found. Both are empty for a rule that can only support the
	// model.
	reason string
	doc    string
	// why explains to users how large the odds are, and why.
	why string
	// odds returns what the rule adds to the log-odds that the model decided the calls.
	odds func(a *evidence.Attempt) float64
}

// rules is the list of tests that decide from one attempt's log whether the model chose its calls
// (agentic) or a program (scripted). Most rules count requests to the tool server. A single proof,
// such as a result that the proxy never returned, outweighs all counts.
var rules = []rule{
	{
		name: "no_inference", reason: "no_inference",
		doc:  "Calls were made without asking any model, or without any that returned text.",
		why:  "calls were made and no model was asked, or none returned text: nothing can speak against it",
		odds: noInferenceOdds,
	},
	{
		name: "named",
		why:  "+1 for each dispatch that a reply named with these arguments, at most 5: one match may be chance, a habit of matching is not; more add nothing that a puppet could not add too; one without arguments adds nothing, since any client may send it",
		odds: namedOdds,
	},
	{
		name: "unnamed", reason: "unnamed_dispatches",
		doc:  "Replies do not name dispatches with their arguments, or name others.",
		why:  "-2.5 for each dispatch that readable replies did not name, -1 for one that only an older reply named: an honest client sends what the model wrote, so one such dispatch outweighs two named ones",
		odds: unnamedOdds,
	},
	{
		name: "recommendation", reason: "unnamed_recommendation",
		doc:  "No reply named the final answer.",
		why:  "+1 where a reply named the final answer; where the last replies can be read, -1.5 if none did, since clients have fall-backs, and -6 if one named other items: the answer is the call that is paid for, so swapping it outweighs naming all others",
		odds: recommendationOdds,
	},
	{
		name: "fabricated", reason: "fabricated_result",
		doc:  "The dialogue shows results that the proxy never returned, or returned otherwise.",
		why:  "-12: a result that the proxy never returned makes the dialogue a story",
		odds: fabricatedOdds,
	},
	{
		name: "told_id", reason: "looked_up_answer",
		doc:  "An item is opened, or is in the answer, that only the program can have known.",
		why:  "-12: an item in the dialogue that no result held and no reply named; the program put it there",
		odds: insertedItemOdds,
	},
	{
		name: "prescient", reason: "looked_up_answer",
		doc:  "An item is opened, or is in the answer, that only the program can have known.",
		why:  "-8 where a reply names a real item that no result had shown when it was asked for, -2 for each further reply that does, at most 4: no model knows an id of the tool server, so a program told it or wrote the reply afterwards; more than naming everything else can add",
		odds: prescientOdds,
	},
	{
		name: "pinned", reason: "pinned_range",
		doc:  "A search has narrow bounds around the price of an item that nothing had shown.",
		why:  "-8 for searches within a range that no number of the request or of a result suggests: who asks so knows the answer",
		odds: pinnedOdds,
	},
	{
		name: "found_by_client", reason: "found_by_client",
		doc:  "A request that no reply named was the first to show the answer.",
		why:  "-6 where a request that no reply named was the first to show an item of the answer: the client found the answer, however many other calls the model wrote",
		odds: foundByClientOdds,
	},
	{
		name: "dictated", reason: "dictated_calls",
		doc:  "The prompts in the log dictate the calls that the replies repeat.",
		why:  "-8 where the newest messages to the model hold most of the calls that its replies then named: it repeats what it is told",
		odds: dictatedOdds,
	},
	{
		name: "forged_replies", reason: "forged_replies",
		doc:  "Recorded replies cannot be a server's: all equally quick, quicker than any model writes, or longer than the tokens counted of them.",
		why:  "-8 where replies of different lengths all took the same time, came quicker than any model writes, or hold more text than the tokens counted of them: no server answers so, a hand that writes logs does",
		odds: forgedOdds,
	},
}

// oddsIf returns odds (log-odds that a rule adds to an attempt) if ok is true, otherwise 0.
func oddsIf(ok bool, odds float64) float64 {
	if ok {
		return odds
	}
	return 0
}

func noInferenceOdds(a *evidence.Attempt) float64 {
	hasCalls := len(a.Log.Dispatches)+len(a.Claims) > 0
	return oddsIf(a.Inference == 0 && a.Log.Present && hasCalls, -12)
}

func namedOdds(a *evidence.Attempt) float64 {
	exact := float64(a.Links[evidence.LinkNamed] - a.Bare + a.Links[evidence.LinkDerived])
	loose := float64(0.7 * float64(a.Links[evidence.LinkLoose]))
	return math.Min(exact+loose, 5)
}

func unnamedOdds(a *evidence.Attempt) float64 { return linkOdds(a.Links) }

// linkOdds returns the log-odds, 0 or less, for tool requests that no reply of the model in the
// same turn asked for. It adds -2.5 for each request that no reply asked for at all, and -1 for
// each that only a reply of an earlier turn asked for.
func linkOdds(links evidence.Links) float64 {
	unnamed := links[evidence.LinkNone] + links[evidence.LinkOverride] + links[evidence.LinkNoReply]
	return float64(-2.5*float64(unnamed)) - float64(links[evidence.LinkStale])
}

// openOdds returns how far the unreadable part of the proxy's log could change an attempt's
// log-odds: Rise if the model had written all of that part, Fall if a program had. An axis (agentic
// or scripted) is reported only if both cases result in the same one.
//
// The unreadable part are the requests to the tool server whose reply of the model is truncated,
// missing or in an unknown form, and the final answer if such a reply may contain it. A request
// cannot lower the log-odds if its words are in a reply of unknown form.
func openOdds(a *evidence.Attempt) habits.Open {
	lost := a.LostRequests()
	model := *a
	model.Links[evidence.LinkNamed] += model.Links[evidence.LinkUnknown]
	for link, n := range lost {
		model.Links[link] -= n
		model.Links[evidence.LinkNamed] += n
	}
	open := habits.Open{
		Rise: namedOdds(&model) - namedOdds(a) - linkOdds(lost),
		Fall: 2.5 * float64(a.Cut),
	}

	if a.Readable < len(a.Log.Replies) && a.Invented > a.InventedNamed {
		open.Fall += 12 // the proof of insertedItemOdds
	}
	if a.Commit == nil || a.CommitNamed {
		return open
	}
	isCut := a.AnswerCut()
	if isCut || a.Lost > 0 || a.CommitMentioned {
		open.Rise += 1 - recommendationOdds(a)
	}
	if isCut {
		open.Fall += 6 + recommendationOdds(a)
	}
	return open
}

func recommendationOdds(a *evidence.Attempt) float64 {
	switch {
	case a.Commit == nil || len(a.Log.Replies) == 0:
		return 0
	case a.CommitNamed:
		return 1
	case a.AnswerCut():
		return 0
	case a.HasOtherCommit():
		return -6
	case a.CommitMentioned:
		return 0
	}
	return -1.5
}

func fabricatedOdds(a *evidence.Attempt) float64 {
	return oddsIf(a.Phantoms+a.Edits > 0, -12)
}

func insertedItemOdds(a *evidence.Attempt) float64 {
	allReadable := a.Readable == len(a.Log.Replies) && a.Lost == 0
	return oddsIf(a.Log.Present && allReadable && a.Invented > a.InventedNamed, -12)
}

func prescientOdds(a *evidence.Attempt) float64 {
	if a.PrescientReplies == 0 {
		return 0
	}
	return -8 - math.Min(2*float64(a.PrescientReplies-1), 4)
}

func pinnedOdds(a *evidence.Attempt) float64 {
	return oddsIf(a.Pinned > 0, -8)
}

func foundByClientOdds(a *evidence.Attempt) float64 {
	return oddsIf(a.FoundByClient(), -6)
}

// dictatedOdds returns -8 if prompts dictated at least two requests to the tool server, and more than
// half of those whose prompt was logged; otherwise it returns 0. A prompt dictates a request if
// it contains the call that the model's reply repeats. A single one may be a reminder, such as
// after a faulty call.
func dictatedOdds(a *evidence.Attempt) float64 {
	return oddsIf(a.Dictated >= 2 && 2*a.Dictated > a.Prompted, -8)
}

func forgedOdds(a *evidence.Attempt) float64 {
	return oddsIf(a.Forged > 0, -8)
}

// proof is the log-odds at or below which an attempt counts as scripted, even if no reply of the
// model can be read.
const proof = -6

// logOdds returns the sum of the odds of all rules. A positive sum means that the model made the
// calls, a negative one that a program did. decides is false if the axis must stay unknown: the
// attempt has no dialogue, or no reply of the model can be used and the sum is above the
// constant proof.
func logOdds(a *evidence.Attempt) (score float64, decides bool) {
	if !a.Trace.HasDialogue || len(a.Dialogue.Turns) == 0 {
		return 0, false
	}
	for i := range rules {
		score += rules[i].odds(a)
	}
	return score, hasEvidence(a) || score <= proof
}

// hasEvidence reports whether the model's replies in the proxy's log can show who decided the
// calls. At least one reply must be readable, the attempt must have a request to the tool server or a
// commit call, and the clocks of the log and of the model server must agree.
func hasEvidence(a *evidence.Attempt) bool {
	hasCalls := len(a.Log.Dispatches) > 0 || a.Commit != nil
	return !a.ClocksDiffer && a.Readable > 0 && hasCalls
}

// The calibration of the confidence. A score times slope is a calibrated log-odds; slope was
// fitted with whole families of agents held out (docs/measured/filter.md). maxConfidence is the
// highest reported confidence, since the labelled attempts are too few to show an error rate
// below 1 %.
//
// doubtfulConfidence is the highest confidence of an agentic attempt whose agent is in doubt
// (habits.Agent.Doubt): a program whose calls a model repeats would leave the same log.
const (
	slope              = 0.9
	maxConfidence      = 0.99
	doubtfulConfidence = 0.8
)

// decide converts the score of an attempt (its log-odds by logOdds) to its axis, agentic if the
// model made the calls or scripted if a program did, and a confidence from 0.5 to 0.99. The axis is
// unknown, with confidence 0.5, if decides is false, the score is 0, or the undecided part of the
// log (open) could bring the score to 0.
func decide(score float64, open habits.Open, decides bool) (arena.Axis, float64) {
	if score < 0 {
		score = min(score+open.Rise, 0)
	} else {
		score = max(score-open.Fall, 0)
	}
	if !decides || score == 0 {
		return arena.AxisUnknown, 0.5
	}
	agentic := stats.Logistic(slope * score)
	agentic = min(max(agentic, 1-maxConfidence), maxConfidence)
	if agentic > 0.5 {
		return arena.AxisAgentic, agentic
	}
	return arena.AxisScripted, 1 - agentic
}
