package rows

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/internal/calls"
)

// MessageTurns converts the messages of a row to turns of a dialogue. The system prompt, and the
// results of tools in their tags, become turns of the user.
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

// TextTurns joins dialogues in text form and converts them to turns. Thinking and calls in tags
// are parsed, so that a turn is the same in every profile. Messages of tools are omitted.
func TextTurns(dialogues ...[]Msg) []arena.Turn {
	var turns []arena.Turn
	for _, m := range slices.Concat(dialogues...) {
		switch m.Role {
		case chat.Tool:
		case chat.Assistant:
			turns = append(turns, textTurn(m.Content))
		default:
			turns = append(turns, MessageTurns([]chat.Message{{Role: m.Role, Content: m.Content}})...)
		}
	}
	return turns
}

// textTurn converts what a model wrote to a turn with thinking, visible text and tool calls. If a
// call cannot be read, the turn has the unchanged text only.
func textTurn(text string) arena.Turn {
	r := calls.Mended(text)
	if len(r.Faults) > 0 {
		return arena.Turn{Text: text}
	}
	return arena.Turn{
		Think: r.Think,
		Text:  r.Text,
		Calls: r.Calls,
	}
}

// Request returns the customer's request: the first user message of a prompt. It returns "" if
// there is none.
func Request(prompt []Msg) string {
	for _, m := range prompt {
		if m.Role == chat.User {
			return m.Content
		}
	}
	return ""
}
