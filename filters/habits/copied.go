package habits

import (
	"math"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// CopiedDialogue is the code for rejecting an attempt that repeats an earlier one of another
// agent.
const CopiedDialogue = "copied_dialogue"

// copiedDialogue casts doubt on an attempt whose dialogue another agent began earlier, word for
// word. Nobody can copy a dialogue before it is written, so the agent that is first in less
// than a tenth of the shared dialogues is the one that copies. Agents that are both first at
// times may run one program, which the log does not show. Four trials of one model at one task
// shared no dialogue (0 of 300 pairs).
var copiedDialogue = Proof{
	Check: "copied_dialogue_v1", Reason: CopiedDialogue,
	Doc: "Over the agent's day dialogues that other agents hold too, word for word, began later than theirs, and so did this one.",
	Why: "another agent began the same thoughts and calls earlier, as in over nine of ten dialogues that this one shares, four and more: who wrote them is not known",
	Holds: func(s *Sample, a *Agent) bool {
		isCopier := a.firstShared.Whole >= 4 && a.firstShared.Share() < 0.1
		return isCopier && a.index.dialogues[s.Dialogue].shared && !a.isFirst(s)
	},
}

// noTime is the start of an attempt whose log has no times. It is after the start of every
// other attempt.
const noTime = math.MaxInt64

// origin is the first appearance of a dialogue in the day: the agent that had it, as the hash
// of its name, and the time in Unix milliseconds, or noTime.
type origin struct {
	agent uint64
	begin int64
	// shared reports whether other agents have the dialogue, too.
	shared bool
}

// add returns the origin of a dialogue after another appearance of it: the earlier of the two,
// with shared set if the agents differ. The order in which appearances are added does not
// matter.
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

// isFirst reports whether this agent had the dialogue of its attempt before all other agents.
// An attempt that begins in the same millisecond as the first one is the same attempt, which
// the day contains twice. It is false if the dialogue has no time.
func (a *Agent) isFirst(s *Sample) bool {
	o := a.index.dialogues[s.Dialogue]
	return o.begin < noTime &&
		(o.agent == evidence.HashText(a.name) || o.begin == s.Begun)
}

// hashDialogue returns a hash of the words of all turns and calls; the order of a call's
// arguments does not matter. It returns 0 if the log has no reply to date the dialogue, or if
// its thoughts and texts have fewer than 20 words, too few to identify an author.
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

// copiedLog proves that no model was asked: an earlier attempt of the day has every reply of
// the log, by the ids, which identify an inference. A single reply may be a server's copy of an
// earlier answer, but not two or more that are all a log has. Servers that give all replies one
// id, or none, prove nothing.
var copiedLog = Proof{
	Check: "copied_log_v1", Reason: "copied_log", Odds: -8,
	Doc: "Every reply of the log is one that an earlier attempt of the day got, by its id.",
	Why: "two replies and more, all with ids, lengths and ends that an earlier attempt's log holds: no model was asked again",
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
