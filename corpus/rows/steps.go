package rows

import (
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// NewSteps returns the stepwise row of an attempt: the assistant messages among ms in text form,
// each with its verdict. The row ends before the first unclear verdict, because neither label
// would be right for that step. The caller must set the field Rule.
func NewSteps(
	attempt *SFT,
	ms []chat.Message,
	verdicts []arena.StepVerdict,
	f *Facts,
) (Steps, error) {
	steps := slicesx.FilterMap(chat.Text(ms, nil), func(t Msg) (string, bool) {
		return t.Content, t.Role == chat.Assistant
	})
	if len(verdicts) != len(steps) {
		return Steps{}, fmt.Errorf("label steps of %s: %d verdicts on %d messages", attempt.SessionID, len(verdicts), len(steps))
	}
	row := Steps{
		Prompt:    attempt.Goal,
		Reward:    attempt.Reward,
		SessionID: attempt.SessionID,
		Split:     f.Split,
		Origin:    f.Origin,
	}
	for _, v := range verdicts {
		if v.Need == arena.StepUnclear {
			break
		}
		needed := v.Need == arena.StepNeeded
		reward := 0.0
		if needed {
			reward = 1
		}
		row.Labels = append(row.Labels, needed)
		row.Rewards = append(row.Rewards, reward)
		row.Reasons = append(row.Reasons, v.Reason)
		row.Quotes = append(row.Quotes, v.Quote)
	}
	n := len(row.Labels)
	row.Completions = steps[:n]
	row.LeftOut = int64(len(steps) - n)
	if n > 0 && row.LeftOut == 0 {
		row.Rewards[n-1] += attempt.Reward
	}
	return row, nil
}
