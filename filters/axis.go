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
		doc:  "The agent made calls, but asked no model, or no model returned any text.",
		why:  "calls were made, but no model was asked or none returned text; no other evidence can change this",
		odds: noInferenceOdds,
	},
	{
		name: "named",
		why:  "+1 for each dispatch that a reply named with the same arguments, at most +5. One match may be chance, but a series of matches is not; more than five matches prove no more. A call without arguments adds nothing, since any client may send it",
		odds: namedOdds,
	},
	{
		name: "unnamed", reason: "unnamed_dispatches",
		doc:  "Replies do not name dispatches with their arguments, or name others.",
		why:  "-2.5 for each dispatch that no reply named although all replies could be read, -1 for one that only an older reply named. An honest client sends what the model wrote, so one such dispatch outweighs two named ones",
		odds: unnamedOdds,
	},
	{
		name: "recommendation", reason: "unnamed_recommendation",
		doc:  "No reply named the final answer.",
		why:  "+1 if a reply named the final answer. If the last replies can be read: -1.5 if none of them named it (some clients have a fall-back), and -6 if one named other items. The answer is the call that is paid for, so replacing it outweighs all named calls",
		odds: recommendationOdds,
	},
	{
		name: "fabricated", reason: "fabricated_result",
		doc:  "The dialogue shows results that the proxy did not return, or returned with other content.",
		why:  "-12 for a result that the proxy did not return: the dialogue was invented",
		odds: fabricatedOdds,
	},
	{
		name: "told_id", reason: "looked_up_answer",
		doc:  "The attempt opens or answers with an item that only a program could know.",
		why:  "-12 for an item in the dialogue that no result contained and no reply named: the program put it there",
		odds: insertedItemOdds,
	},
	{
		name: "prescient", reason: "looked_up_answer",
		doc:  "The attempt opens or answers with an item that only a program could know.",
		why:  "-8 if a reply names a real item that no earlier result had shown, and -2 for each of at most 4 further replies. No model knows the ids of the tool server, so a program gave it the id or wrote the reply afterwards. This outweighs all named calls",
		odds: prescientOdds,
	},
	{
		name: "pinned", reason: "pinned_range",
		doc:  "A search has a narrow price range around an item that nothing had shown before.",
		why:  "-8 for searches in a price range that no number in the request or in a result suggests: such a search needs the answer",
		odds: pinnedOdds,
	},
	{
		name: "found_by_client", reason: "found_by_client",
		doc:  "A call that no reply named was the first to show an item of the answer.",
		why:  "-6 if a call that no reply named was the first to show an item of the answer: the client found the answer, even if the model wrote all other calls",
		odds: foundByClientOdds,
	},
	{
		name: "dictated", reason: "dictated_calls",
		doc:  "The prompts in the log dictate the calls that the replies repeat.",
		why:  "-8 if the newest messages to the model contain most of the calls that its replies then name: the model repeats what it is told",
		odds: dictatedOdds,
	},
	{
		name: "forged_replies", reason: "forged_replies",
		doc:  "The recorded replies cannot come from a server: all took the same time, came faster than any model writes, or are longer than their token counts allow.",
		why:  "-8 if replies of different lengths all took the same time, came faster than any model writes, or have more text than their token counts allow: no server answers in this way, so the log was forged",
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

// openOdds returns by how much an attempt's log-odds (positive if the model made the calls,
// negative if a program did) could change if the unreadable part of the proxy's log were known.
// Rise is for a model that wrote all of that part, Fall for a program. The filter decides only if
// both lead to the same decision.
//
// The unreadable part are the tool requests for which the model's reply is truncated, missing or in
// an unknown form, and the final answer if such a reply may contain it. A request cannot lower the
// log-odds if its words are in a reply of unknown form.
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

// proof is the sum of the rules' log-odds from which on it is certain that a program made the calls
// of an attempt. The attempt is then scripted even if no reply of the model can be read.
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
