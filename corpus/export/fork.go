package export

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// The reasons for which a pair has no turn to learn from.
const (
	reasonNoFork   = "no_fork"           // the two attempts of a pair do not part at a turn of the model with the same results before it
	reasonRepeated = "fork_repeats_call" // where the two attempts of a pair part, the chosen one repeats a call: no step to prefer
)

// fork is where two attempts part: the first turn of the model that acts
// otherwise, while all before it was done alike and answered alike. Reasoning
// that leads to the same calls is no fork; what is common is told as the chosen
// attempt told it.
func fork(p *rows.Pref) (int, error) {
	for i := range min(len(p.Chosen), len(p.Rejected)) {
		a, b := p.Chosen[i], p.Rejected[i]
		switch {
		case a.Role != b.Role:
			return 0, &chat.Unfit{Reason: reasonNoFork}
		case a.Role == chat.Assistant && act(a.Content) != act(b.Content):
			return i, repeats(p.Chosen[:i], a)
		case a.Role != chat.Assistant && a.Content != b.Content:
			return 0, &chat.Unfit{Reason: reasonNoFork}
		}
	}
	return 0, &chat.Unfit{Reason: reasonNoFork}
}

// act is what a turn in text form does: its calls, or what it says where it
// makes none.
func act(content string) string {
	if at := strings.Index(content, "<tool_call>\n"); at >= 0 {
		return content[at:]
	}
	return content
}

// repeats refuses a turn that does what an earlier one did.
func repeats(before []rows.Msg, turn rows.Msg) error {
	same := func(m rows.Msg) bool { return m.Role == turn.Role && act(m.Content) == act(turn.Content) }
	if slices.ContainsFunc(before, same) {
		return &chat.Unfit{Reason: reasonRepeated}
	}
	return nil
}

// prefTurns is one turn of each attempt, behind the history that both share.
func prefTurns(r *row) ([]rows.Pref, error) {
	at, err := fork(r.pref)
	if err != nil {
		return nil, err
	}
	p := *r.pref
	p.Prompt = slices.Concat(p.Prompt, p.Chosen[:at])
	p.Chosen, p.Rejected = p.Chosen[at:at+1], p.Rejected[at:at+1]
	p.ChosenTokens, p.RejectedTokens = turnTokens(p.Chosen), turnTokens(p.Rejected)
	return []rows.Pref{p}, nil
}

func turnTokens(turn []rows.Msg) int64 { return int64(rows.Bytes4{}.Count(turn[0].Content)) }

// ktoTurns are the two turns of a fork, one wanted and one not.
func ktoTurns(r *row) ([]rows.KTO, error) {
	made, err := prefTurns(r)
	if err != nil {
		return nil, err
	}
	p := &made[0]
	one := rows.KTO{Prompt: p.Prompt, Completion: p.Chosen, Label: true, Reason: p.Reason, Score: p.ChosenScore, NTokens: p.ChosenTokens,
		SessionID: p.ChosenSession, Harness: p.Harness, TaskType: p.TaskType, Split: p.Split, PipelineVersion: p.PipelineVersion, Origin: p.Origin}
	other := one
	other.Completion, other.Label, other.Score, other.NTokens, other.SessionID = p.Rejected, false, p.RejectedScore, p.RejectedTokens, p.RejectedSession
	return []rows.KTO{one, other}, nil
}
