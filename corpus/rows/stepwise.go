package rows

import (
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
)

// NewSteps makes the stepwise row of an attempt: its assistant messages ms in
// text form with a verdict on each, in order, up to the first that is unclear:
// neither label would be true of it, and what comes before it is a row by
// itself. The caller names the rule.
func NewSteps(of *SFT, ms []chat.Message, verdicts []arena.StepVerdict, f *Facts) (Steps, error) {
	row := Steps{Prompt: of.Goal, Reward: of.Reward, SessionID: of.SessionID, Split: f.Split, Origin: f.Origin}
	for _, t := range chat.Text(ms, nil) {
		if t.Role == chat.Assistant {
			row.Completions = append(row.Completions, t.Content)
		}
	}
	if len(verdicts) != len(row.Completions) {
		return Steps{}, fmt.Errorf("label steps of %s: %d verdicts on %d messages", of.SessionID, len(verdicts), len(row.Completions))
	}
	for _, v := range verdicts {
		if v.Need == arena.StepUnclear {
			break
		}
		row.add(v)
	}
	row.LeftOut = int64(len(verdicts) - len(row.Labels))
	row.Completions = row.Completions[:len(row.Labels)]
	if last := len(row.Labels) - 1; last >= 0 && row.LeftOut == 0 {
		row.Rewards[last] += of.Reward
	}
	return row, nil
}

func (s *Steps) add(v arena.StepVerdict) {
	reward := 0.0
	if v.Need == arena.StepNeeded {
		reward = 1
	}
	s.Labels, s.Rewards = append(s.Labels, v.Need == arena.StepNeeded), append(s.Rewards, reward)
	s.Reasons, s.Quotes = append(s.Reasons, v.Reason), append(s.Quotes, v.Quote)
}
