package habits

import (
	"math"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// Nobody can repeat what is not yet written, so an agent that is hardly ever first is the
// one that repeats. Where both are first at times, both may run one program, and the log
// does not tell. Four trials of one model at one task shared no dialogue (0 of 300 pairs).
var _ = listed(&Proofs, Proof{
	Check: "copied_dialogue_v1", Reason: CopiedDialogue,
	Doc: "Over the agent's day dialogues that other agents hold too, word for word, began later than theirs, and so did this one.",
	Why: "another agent began the same thoughts and calls earlier, as in over nine of ten dialogues that this one shares, four and more: who wrote them is not known",
	Holds: func(s *Sample, a *Agent) bool {
		return a.led.Whole >= 4 && a.led.Share() < 0.1 && a.found.dialogues[s.Dialogue].shared && !a.begins(s)
	},
})

// CopiedDialogue is the reason of an attempt that another agent's came before.
const CopiedDialogue = "copied_dialogue"

// first says which agent, by the hash of its name, had something first and when, in Unix
// milliseconds, and whether others have it, too. Where a log has no times that is at the
// end of all.
type first struct {
	agent  uint64
	begun  int64
	shared bool
}

// add takes in that an agent has it. The order of attempts does not count.
func (x first) add(begun int64, agent uint64) first {
	x.shared = x.shared || x.agent != 0 && x.agent != agent
	if x.agent == 0 || begun < x.begun || begun == x.begun && agent < x.agent {
		x.agent, x.begun = agent, begun
	}
	return x
}

// begins reports whether the agent began the dialogue of its attempt before all others.
// What began in the same millisecond is one attempt that the day holds twice.
func (a *Agent) begins(s *Sample) bool {
	x := a.found.dialogues[s.Dialogue]
	return x.begun < math.MaxInt64 && (x.agent == evidence.HashText(a.name) || x.begun == s.Begun)
}

// dialogue is a hash of the words of all turns and calls, whatever the order of a call's
// arguments; 0 where no log dates them, or they are too few to be anybody's own.
func dialogue(a *evidence.Attempt) (h uint64) {
	if len(a.Log.Replies) == 0 {
		return 0
	}
	said := 0
	for _, turn := range evidence.Each(a.Dialogue.Turns) {
		for _, text := range [...]string{turn.Think, turn.Text} {
			for word := range evidence.Words(text) {
				h, said = evidence.Mix(h, word), said+1
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
	if said < grounds {
		return 0
	}
	return h
}

// An id is one inference's. One reply may be a server's copy of an answer that it gave
// before, a whole log is none. Servers that give all replies one id, or none, tell nothing.
var _ = listed(&Proofs, Proof{
	Check: "copied_log_v1", Reason: "copied_log", Odds: -8,
	Doc: "Every reply of the log is one that an earlier attempt of the day got, by its id.",
	Why: "two replies and more, all with ids, lengths and ends that an earlier attempt's log holds: no model was asked again",
	Holds: func(s *Sample, a *Agent) bool {
		for _, reply := range s.Replies {
			if begun, known := a.found.replies[reply]; !known || begun >= s.Begun {
				return false
			}
		}
		return len(s.Replies) > 1
	},
})
