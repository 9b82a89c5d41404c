package rows

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// MessageTurns converts the messages of a row to turns of a dialogue. The system prompt and the
// results of tools, in their tags, become turns of the user.
func MessageTurns(messages []chat.Message) []arena.Turn {
	turns := make([]arena.Turn, 0, len(messages))
	for _, m := range messages {
		switch m.Role {
		case chat.System, chat.User:
			turns = append(turns, arena.Turn{User: m.Content})
		case chat.Tool:
			turns = append(turns, arena.Turn{User: chat.ResultsText([]chat.Message{m})})
		case chat.Assistant:
			turns = append(turns, assistantTurn(m))
		}
	}
	return turns
}

func assistantTurn(m chat.Message) arena.Turn {
	t := arena.Turn{Think: m.Reasoning, Text: m.Content}
	for _, c := range m.Calls {
		args := arena.Raw(c.Function.Arguments)
		t.Calls = append(t.Calls, arena.Call{
			ID:        c.ID,
			Name:      c.Function.Name,
			Arguments: args,
		})
	}
	return t
}

// TextTurns concatenates dialogues in text form and converts them to turns like MessageTurns.
// Messages of tools are omitted.
func TextTurns(dialogues ...[]Msg) []arena.Turn {
	messages := slicesx.FilterMap(slices.Concat(dialogues...), func(m Msg) (chat.Message, bool) {
		return chat.Message{
			Role:    m.Role,
			Content: m.Content,
		}, m.Role != chat.Tool
	})
	return MessageTurns(messages)
}

// Request returns the first user message of a prompt, which is the customer's request, or "" if
// there is none.
func Request(prompt []Msg) string {
	for _, m := range prompt {
		if m.Role == chat.User {
			return m.Content
		}
	}
	return ""
}
