package rows

import (
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
)

// Turns gives the messages of the row as turns: the system prompt and what the
// customer said as the user's, without the results of tools. It fails where a
// message cannot be read.
func (r *SFT) Turns() ([]arena.Turn, error) {
	messages, err := chat.Decode(r.Messages)
	if err != nil {
		return nil, err
	}
	var turns []arena.Turn
	for _, m := range messages {
		switch m.Role {
		case chat.System, chat.User:
			turns = append(turns, arena.Turn{User: m.Content})
		case chat.Assistant:
			t := arena.Turn{Think: m.Reasoning, Text: m.Content}
			for _, c := range m.Calls {
				t.Calls = append(t.Calls, arena.Call{ID: c.ID, Name: c.Function.Name, Arguments: arena.Raw(c.Function.Arguments)})
			}
			turns = append(turns, t)
		}
	}
	return turns, nil
}

// TurnsOf gives dialogues in text form as turns, as SFT.Turns does.
func TurnsOf(dialogues ...[]Msg) []arena.Turn {
	var turns []arena.Turn
	for _, messages := range dialogues {
		for _, m := range messages {
			switch m.Role {
			case chat.System, chat.User:
				turns = append(turns, arena.Turn{User: m.Content})
			case chat.Assistant:
				turns = append(turns, arena.Turn{Text: m.Content})
			}
		}
	}
	return turns
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
