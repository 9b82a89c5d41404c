package rows

import (
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Length is the number of tokens of a row that a trainer reads, with the name of the Counter
// that counted them.
type Length struct {
	Tokens  int64
	Counter string
}

// Raise sets l to other if other has more tokens.
func (l *Length) Raise(other Length) {
	if other.Tokens > l.Tokens {
		*l = other
	}
}

// Length returns the number of tokens stored in the row.
func (r *SFT) Length() Length { return Length{r.NTokens, r.TokenCounter} }

// Length returns the number of tokens stored in the row.
func (c *AttemptColumns) Length() Length { return Length{c.NTokens, c.TokenCounter} }

// Length returns an estimate of the number of tokens of the prompt with the longer of the two
// attempts.
func (r *Pref) Length() Length {
	longer := max(contentBytes(r.Chosen), contentBytes(r.Rejected))
	return estimate(contentBytes(r.Prompt) + longer)
}

// Length returns an estimate of the number of tokens of prompt and completion.
func (r *KTO) Length() Length { return estimate(contentBytes(r.Prompt) + contentBytes(r.Completion)) }

// Length returns an estimate of the number of tokens of the prompt with its tools.
func (r *RL) Length() Length { return estimate(contentBytes(r.Prompt) + len(r.Tools)) }

// Length returns an estimate of the number of tokens of the prompt.
func (r *Prompts) Length() Length { return estimate(contentBytes(r.Prompt)) }

// Length returns an estimate of the number of tokens of the prompt and all steps.
func (r *Steps) Length() Length {
	n := len(r.Prompt)
	for _, c := range r.Completions {
		n += len(c)
	}
	return estimate(n)
}

// contentBytes returns the total number of bytes of the contents of messages.
func contentBytes(ms []Msg) int {
	n := 0
	for _, m := range ms {
		n += len(m.Content)
	}
	return n
}

func estimate(nBytes int) Length { return Length{int64(nBytes+3) / 4, Bytes4{}.Name()} }

// Counter is a method of counting the tokens of a text. Every row names its counter, because
// counts of different counters must not be compared.
type Counter interface {
	// Name returns the counter's stable name, such as "bytes4".
	Name() string
	// Count returns the number of tokens, which is never negative.
	Count(text string) (int, error)
}

// Bytes4 is the Counter that estimates one token for every four bytes, rounded up. It is used if
// no tokenizer is configured. On 132 attempts it underestimates Qwen's tokens by 7 to 19 % and
// Mistral's by 12 to 25 %.
type Bytes4 struct{}

// Name returns "bytes4".
func (Bytes4) Name() string { return "bytes4" }

// Count returns a quarter of the text's UTF-8 bytes, rounded up. The error is always nil.
func (Bytes4) Count(text string) (int, error) { return (len(text) + 3) / 4, nil }

// CountTokens counts the tokens of an attempt in text form, with the tools in the system
// turn and a newline between turns.
func CountTokens(c Counter, ms []chat.Message, tools []string) (int, error) {
	turns := chat.Text(ms, tools)
	if _, ok := c.(Bytes4); ok {
		newlines := max(0, len(turns)-1)
		return int(estimate(contentBytes(turns) + newlines).Tokens), nil
	}
	contents := slicesx.Map(turns, func(t Msg) string { return t.Content })
	return c.Count(strings.Join(contents, "\n"))
}

// Recount counts the tokens of encoded messages again, after redaction.
func Recount(c Counter, encoded, tools []string) (int, error) {
	ms, err := chat.Decode(encoded)
	if err != nil {
		return 0, fmt.Errorf("count tokens of what is published: %w", err)
	}
	return CountTokens(c, ms, tools)
}
