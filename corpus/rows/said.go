package rows

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
)

// TurnsIn gives the messages of a row as turns: the system prompt and what the
// customer said as the user's, results of tools in tags.
func TurnsIn(messages []chat.Message) []arena.Turn {
	turns := make([]arena.Turn, 0, len(messages))
	for _, m := range messages {
		switch m.Role {
		case chat.System, chat.User:
			turns = append(turns, arena.Turn{User: m.Content})
		case chat.Tool:
			turns = append(turns, arena.Turn{User: chat.Responses([]chat.Message{m})})
		case chat.Assistant:
			t := arena.Turn{Think: m.Reasoning, Text: m.Content}
			for _, c := range m.Calls {
				t.Calls = append(t.Calls, arena.Call{ID: c.ID, Name: c.Function.Name, Arguments: arena.Raw(c.Function.Arguments)})
			}
			turns = append(turns, t)
		}
	}
	return turns
}

// TurnsOf gives dialogues in text form as turns, as TurnsIn does.
func TurnsOf(dialogues ...[]Msg) []arena.Turn {
	var messages []chat.Message
	for _, m := range slices.Concat(dialogues...) {
		if m.Role != chat.Tool {
			messages = append(messages, chat.Message{Role: m.Role, Content: m.Content})
		}
	}
	return TurnsIn(messages)
}

// Request is the customer's request in a prompt: what its first user message says.
func Request(prompt []Msg) string {
	for _, m := range prompt {
		if m.Role == chat.User {
			return m.Content
		}
	}
	return ""
}

// Gold are the products that the row's problem is graded by.
func (r *RL) Gold() []string {
	var ids []string
	for _, id := range gjson.Get(r.RewardModel.Truth, "reward.#.product_id").Array() {
		ids = append(ids, id.String())
	}
	return ids
}

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
