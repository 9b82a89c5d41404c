package habits

import (
	"math"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// CopiedDialogue is the code for rejecting an attempt whose dialogue another agent had earlier.
const CopiedDialogue = "copied_dialogue"

// copiedDialogue is the doubt that an agent copied the dialogue of an attempt from another agent,
// which began the same dialogue earlier, word for word. A dialogue can only be copied after it is
// written, so an agent that is first in less than a tenth of at least four shared dialogues is a
// copier. If each of two agents is first at times, both may run one program, and the log does not
// show who wrote the dialogue. Honest trials share no dialogue: of one model's four trials at one
// task, 0 of 300 pairs did.
var copiedDialogue = Proof{
	Check: "copied_dialogue_v1", Reason: CopiedDialogue,
	Doc: "During the agent's day, its dialogues that are equal to those of other agents, word for word, began later than theirs, as this one did.",
	Why: "another agent had the same thoughts and calls earlier. This is so for more than nine in ten of at least four dialogues that the two agents share, so it is unknown who wrote them",
	Holds: func(s *Sample, a *Agent) bool {
		isCopier := a.firstShared.Whole >= 4 && a.firstShared.Share() < 0.1
		return isCopier && a.index.dialogues[s.Dialogue].shared && !a.isFirst(s)
	},
}

// noTime is used as the start time of an attempt whose log has no times. It sorts after every real
// time.
const noTime = math.MaxInt64

// origin is the first appearance of a dialogue on one day, by which copies of it in other agents'
// attempts are recognised: the hash of the agent's name, and the time in Unix milliseconds or
// noTime.
type origin struct {
	agent uint64
	begin int64
	// shared reports whether several agents have the dialogue.
	shared bool
}

// add returns the origin of a dialogue after one more appearance of it, by the agent with this
// hash. The result is the earlier of the two, with shared set if the agents differ. It does not
// depend on the order of the appearances.
func (o origin) add(begin int64, agent uint64) origin {
	if o.agent == 0 {
		return origin{agent: agent, begin: begin, shared: o.shared}
	}
	if o.agent != agent {
		o.shared = true
	}
	if begin < o.begin || begin == o.begin && agent < o.agent {
		o.agent = agent
		o.begin = begin
	}
	return o
}

// isFirst reports whether this agent had the dialogue of an attempt before all other agents. An
// attempt that begins in the same millisecond as the first appearance counts as first too, since it
// is a copy of the same attempt. isFirst returns false if the dialogue has no time.
func (a *Agent) isFirst(s *Sample) bool {
	o := a.index.dialogues[s.Dialogue]
	return o.begin < noTime &&
		(o.agent == evidence.HashText(a.name) || o.begin == s.Begun)
}

// hashDialogue returns a hash of the words of all turns and calls, in which the order of a
// call's arguments does not matter. It returns 0 if the log has no reply to date the dialogue,
// or if thoughts and texts have fewer than 20 words, too few to identify an author.
func hashDialogue(a *evidence.Attempt) uint64 {
	if len(a.Log.Replies) == 0 {
		return 0
	}
	h := uint64(0)
	words := 0
	for i := range a.Dialogue.Turns {
		turn := &a.Dialogue.Turns[i]
		for _, text := range [...]string{turn.Think, turn.Text} {
			for word := range evidence.Words(text) {
				h = evidence.Mix(h, word)
				words++
			}
		}
		for j := range turn.Calls {
			call := evidence.HashText(turn.Calls[j].Name)
			for word := range evidence.Words(string(turn.Calls[j].Arguments)) {
				call += word
			}
			h = evidence.Mix(h, call)
		}
	}
	if words < minGroundingCases {
		return 0
	}
	return h
}

// copiedLog is the proof that no model was asked: every reply in the log of the attempt is in the
// log of an earlier attempt too, with the same id, length and end. One such reply may be a server's
// cached answer, but not all of at least two. Replies whose id does not identify them prove
// nothing.
var copiedLog = Proof{
	Check: "copied_log_v1", Reason: "copied_log", Odds: -8,
	Doc: "Every reply of the log has the id, length and ending of a reply that an earlier attempt of the day received.",
	Why: "all replies, at least two, have the ids, lengths and endings of replies in the log of an earlier attempt, so no model was asked again",
	Holds: func(s *Sample, a *Agent) bool {
		for _, reply := range s.Replies {
			begin, ok := a.index.replies[reply]
			if !ok || begin >= s.Begun {
				return false
			}
		}
		return len(s.Replies) > 1
	},
}
