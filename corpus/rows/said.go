package rows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/internal/slicesx"
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
			turns = append(turns, arena.Turn{User: chat.ResultsText([]chat.Message{m})})
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
	return TurnsIn(slicesx.FilterMap(slices.Concat(dialogues...), func(m Msg) (chat.Message, bool) {
		return chat.Message{Role: m.Role, Content: m.Content}, m.Role != chat.Tool
	}))
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
	return slicesx.Map(gjson.Get(r.RewardModel.Truth, "reward.#.product_id").Array(), gjson.Result.String)
}

// NewSteps makes the stepwise row of an attempt: its assistant messages ms in
// text form with a verdict on each, in order, up to the first that is unclear:
// neither label would be true of it, and what comes before it is a row by
// itself. The caller names the rule.
func NewSteps(of *SFT, ms []chat.Message, verdicts []arena.StepVerdict, f *Facts) (Steps, error) {
	row := Steps{Prompt: of.Goal, Reward: of.Reward, SessionID: of.SessionID, Split: f.Split, Origin: f.Origin}
	row.Completions = slicesx.FilterMap(chat.Text(ms, nil), func(t Msg) (string, bool) { return t.Content, t.Role == chat.Assistant })
	if len(verdicts) != len(row.Completions) {
		return Steps{}, fmt.Errorf("label steps of %s: %d verdicts on %d messages", of.SessionID, len(verdicts), len(row.Completions))
	}
	for _, v := range verdicts {
		if v.Need == arena.StepUnclear {
			break
		}
		needed, reward := v.Need == arena.StepNeeded, 0.0
		if needed {
			reward = 1
		}
		row.Labels, row.Rewards = append(row.Labels, needed), append(row.Rewards, reward)
		row.Reasons, row.Quotes = append(row.Reasons, v.Reason), append(row.Quotes, v.Quote)
	}
	row.LeftOut = int64(len(verdicts) - len(row.Labels))
	row.Completions = row.Completions[:len(row.Labels)]
	if last := len(row.Labels) - 1; last >= 0 && row.LeftOut == 0 {
		row.Rewards[last] += of.Reward
	}
	return row, nil
}

// Length is how many tokens of a row a trainer reads, by the counter named.
type Length struct {
	Tokens  int64
	Counter string
}

// Join makes it the longer of the two.
func (l *Length) Join(o Length) {
	if o.Tokens > l.Tokens {
		*l = o
	}
}

// Length is the row's own count.
func (r *SFT) Length() Length { return Length{r.NTokens, r.TokenCounter} }

// Length is the attempt's own count.
func (c *AttemptColumns) Length() Length { return Length{c.NTokens, c.TokenCounter} }

// Length is an estimate for the longer of the two attempts.
func (r *Pref) Length() Length {
	prompt := said(r.Prompt)
	return estimate(prompt + max(said(r.Chosen), said(r.Rejected)))
}

// Length is an estimate.
func (r *KTO) Length() Length { return estimate(said(r.Prompt) + said(r.Completion)) }

// Length is an estimate for the prompt with its tools.
func (r *RL) Length() Length { return estimate(said(r.Prompt) + len(r.Tools)) }

// Length is an estimate for the prompt.
func (r *Prompts) Length() Length { return estimate(said(r.Prompt)) }

// Length is an estimate for the whole attempt.
func (s *Steps) Length() Length {
	bytes := len(s.Prompt)
	for _, c := range s.Completions {
		bytes += len(c)
	}
	return estimate(bytes)
}

func said(ms []Msg) (bytes int) {
	for _, m := range ms {
		bytes += len(m.Content)
	}
	return bytes
}

func estimate(bytes int) Length { return Length{int64(bytes+3) / 4, Bytes4{}.Name()} }

// Counter counts the tokens of a text. Every row names its counter, because
// counts of two counters must not be compared.
type Counter interface {
	// Name is the counter's stable name, such as "bytes4".
	Name() string
	// Count is the number of tokens, never negative.
	Count(text string) int
}

// Bytes4 estimates a token for every four bytes begun. It stands in until a
// tokenizer is given. On 132 attempts it understates Qwen's vocabulary by 7 to
// 19 % and Mistral's by 12 to 25 %.
type Bytes4 struct{}

// Name is "bytes4".
func (Bytes4) Name() string { return "bytes4" }

// Count is a quarter of the text's UTF-8 bytes, rounded up.
func (Bytes4) Count(text string) int { return (len(text) + 3) / 4 }

// CountTokens counts an attempt as a whole: its text form with the tools in
// the system turn.
func CountTokens(c Counter, ms []chat.Message, tools []string) int {
	turns := chat.Text(ms, tools)
	if _, is := c.(Bytes4); is {
		return int(estimate(said(turns) + max(0, len(turns)-1)).Tokens)
	}
	return c.Count(strings.Join(slicesx.Map(turns, func(t Msg) string { return t.Content }), "\n"))
}
