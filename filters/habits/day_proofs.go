package habits

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// replayedText is the proof that the thoughts were written for another dialogue. Of at least 20
// numbers in the thoughts of the agent's day, a share of more than 0.12 is in no earlier text,
// although more than 0.95 of the items in its calls are. An agent whose model invents items invents
// numbers too, so it is excluded. Honest agents reach a share of 0.07 of such numbers.
var replayedText = Proof{
	Check: "replayed_text_v1", Reason: "replayed_text", Odds: -8,
	Doc: "During the agent's day, its thoughts state numbers that occurred nowhere before, about items that a result had shown.",
	Why: "more than 12 % of at least 20 numbers occurred nowhere before, but less than 5 % of the items: the text comes from another attempt",
	Holds: func(s *Sample, a *Agent) bool {
		numbers := ungroundedNumbers.Total(a)
		enough := canDecide(s, a) && numbers.Whole >= minGroundingCases
		return enough && numbers.Share() > 0.12 && unseenItems.Total(a).Share() < 0.05
	},
}

// ungroundedNumbers counts the numbers of three digits or more in thoughts, without numbers in the
// arguments of calls so far, and among them those that are neither in the customer's request nor in
// an earlier result.
var ungroundedNumbers = &Count{
	Name: "numbers in thoughts that stood nowhere before",
	ratio: func(a *evidence.Attempt) Ratio {
		return Ratio{Part: a.Numbers.Ungrounded, Whole: a.Numbers.Total}
	},
}

// unseenItems counts the items in calls, and among them those that are neither in the customer's
// request nor in an earlier result, so that the model invented them or knew them from elsewhere.
var unseenItems = &Count{
	Name: "items in calls that nothing had shown",
	ratio: func(a *evidence.Attempt) Ratio {
		r := Ratio{Part: a.Invented}
		for i := range a.Claims {
			if act := &a.Claims[i].Act; act.Tool.TakesIDs() {
				r.Whole += len(act.IDs)
			}
		}
		return r
	},
}

// scriptedAgent is evidence against an attempt whose own log does not show who made its calls: a
// program made at least 0.95 of at least 12 other attempts of the agent that day. Since an agent is
// one program all day, it presumably made these calls too.
var scriptedAgent = Proof{
	Check: "scripted_agent_v1", Reason: "scripted_agent", Odds: -3,
	Doc: "The attempt's log contains nothing readable, and a program made nearly all other attempts of the agent's day.",
	Why: "a program made at least 95 % of the agent's attempts of the day, which are at least 12, and the log of this one shows nothing else",
	Holds: func(s *Sample, a *Agent) bool {
		return s.Silent && a.Scripted.Whole >= minAgreeing && a.Scripted.Share() >= 0.95
	},
}

// toldAnswers is the proof that the agent's program knew items before the tool server showed them.
// Either the attempt commits an item that only other attempts were shown. Or it uses an item that
// no result showed before, and in at least two attempts of the agent's day a reply calls a tool
// with the id of an item that is shown only later. No model guesses the ten digits of such an id.
// One such attempt a day may be chance; two are not.
var toldAnswers = Proof{
	Check: "told_answers_v2", Reason: "told_answers", Odds: -8,
	Doc: "The answer was known before a result showed it: the answer has an item that only other attempts had found, or items that the agent named without a source during its day turned out to be real.",
	Why: "the answer has an item that only other attempts had found, or items that were named without a source turned out to be real: no model knows such ids",
	Holds: func(s *Sample, a *Agent) bool {
		isReal := func(id uint64) bool { return a.index.items[id] }
		if slices.ContainsFunc(s.Unseen, isReal) {
			return true
		}
		return s.Invented > 0 && prescientAttempts.Total(a).Part > 1
	},
}

// prescientAttempts counts attempts, and among them those in which a reply calls a tool with the
// id of an item that the tool server had not shown yet.
var prescientAttempts = &Count{
	Name: "attempts in which a reply named an item before a result showed it",
	ratio: func(a *evidence.Attempt) Ratio {
		var r Ratio
		r.add(a.Prescient > 0)
		return r
	},
}

// maxTaken is the maximum number of items that are read from one commit call (the call that gives
// the answer). Customers ask for at most three or four.
const maxTaken = 8

// addAnswer adds the items of the attempt's answer to s, up to maxTaken, as hashes: to Taken those
// that a result or the customer's request contains, to Unseen all others.
func (s *Sample) addAnswer(a *evidence.Attempt) {
	if a.Commit == nil {
		return
	}
	ids := a.Commit.Act.IDs
	for _, id := range ids[:min(len(ids), maxTaken)] {
		if a.KnownBefore(id, len(a.Claims)) {
			s.Taken = append(s.Taken, evidence.HashText(id))
		} else {
			s.Unseen = append(s.Unseen, evidence.HashText(id))
		}
	}
}

// Index contains, as hashes, what the attempts of all agents of a day can have in common:
// items, replies and dialogues. Its maps have no pointers, since a season has millions of
// replies.
type Index struct {
	// items are the committed items that the tool server had shown in some attempt. If a model
	// invented an id, it is not among them.
	items map[uint64]bool
	// replies maps each reply to the earliest start, in Unix milliseconds, of an attempt whose
	// log has the reply.
	replies map[uint64]int64
	// dialogues maps each dialogue to its first appearance on the day.
	dialogues map[uint64]origin
}

// NewIndex returns an index without attempts.
func NewIndex() Index {
	return Index{
		items:     map[uint64]bool{},
		replies:   map[uint64]int64{},
		dialogues: map[uint64]origin{},
	}
}

// Add adds an attempt of the named agent to the index.
func (x Index) Add(s *Sample, agent string) {
	for _, t := range s.Traits(agent) {
		x.add(t)
	}
}

func (x Index) add(t Trait) {
	switch t.kind {
	case traitReply:
		if first, ok := x.replies[t.hash]; !ok || t.start < first {
			x.replies[t.hash] = t.start
		}
	case traitDialogue:
		x.dialogues[t.hash] = x.dialogues[t.hash].add(t.start, t.agent)
	case traitTaken:
		x.items[t.hash] = true
	case traitUnseen:
	}
}

// unseenMenu is the doubt that the model only chose from lists of calls that a program wrote and
// that the log does not contain. Its sign is that the first calls of attempts with the same tool
// have different numbers or letters before them, such as "2." and "B)". Honest agents do not cause
// this sign: they number their steps from one, or give a tool one fixed number, and a second item
// of their lists follows a first one.
var unseenMenu = Proof{
	Check: "unseen_menu_v1", Reason: "unseen_menu",
	Doc: "During the agent's day, its first calls are labelled with varying numbers or letters, from lists that no reply contains.",
	Why: "at least 12 first calls are labelled with numbers or letters, and the calls of one tool with different ones: they were chosen from lists that the log does not contain",
	Holds: func(_ *Sample, a *Agent) bool {
		labels := menuLabels.Total(a)
		_, maxSame := labels.Interval()
		return labels.Whole >= minAgreeing && maxSame < 0.9
	},
}

// menuLabels counts the attempts whose first call has a label before it in the first reply, a
// number or letter such as "2." or "B)", and among them those whose label is the most frequent one
// of the call's tool. Later replies do not count, since their numbering of steps may begin with
// two.
var menuLabels = &Count{
	Name: "first calls under the commonest number or letter of their tool",
	marks: func(a *evidence.Attempt) []Mark {
		if len(a.Log.Dispatches) == 0 || a.Log.Dispatches[0].LastReply != 0 {
			return nil
		}
		path := a.Log.Dispatches[0].Call.Path
		for line := range strings.Lines(a.ReplyText(0)) {
			match := menuLabel.FindStringSubmatch(line)
			if match != nil && strings.Contains(line, evidence.Endpoint(path)) {
				return []Mark{{
					Group: evidence.HashText(path),
					Value: evidence.HashText(match[1]),
				}}
			}
		}
		return nil
	},
}

// menuLabel matches a single digit, or a letter from A to H, at the start of a line and possibly
// after one word, such as "2." or "Option B)".
var menuLabel = regexp.MustCompile(`^\W*(?:[A-Za-z]+\W+)?(\d|[A-H])[:.)\]]`)
