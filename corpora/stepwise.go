package corpora

import (
	"fmt"

	"github.com/trajectory-arena/arena/corpora/chat"
)

// NewSteps makes the stepwise row of an attempt: its assistant messages ms in
// text form and a label for each, in order. The caller names the rule.
func NewSteps(of *SFT, ms []chat.Message, labels []bool, f *Facts) (Steps, error) {
	row := Steps{Prompt: of.Goal, Labels: labels, Rewards: make([]float64, len(labels)), Reward: of.Reward, SessionID: of.SessionID, Split: f.Split, Origin: f.Origin}
	for _, t := range chat.Text(ms, nil) {
		if t.Role == chat.Assistant {
			row.Completions = append(row.Completions, t.Content)
		}
	}
	if len(labels) != len(row.Completions) {
		return Steps{}, fmt.Errorf("label steps of %s: %d labels for %d messages", of.SessionID, len(labels), len(row.Completions))
	}
	for i, holds := range labels {
		if holds {
			row.Rewards[i] = 1
		}
	}
	if len(labels) > 0 {
		row.Rewards[len(labels)-1] += of.Reward
	}
	return row, nil
}
