package rows

import (
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
)

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
	texts := make([]string, len(turns))
	for i, t := range turns {
		texts[i] = t.Content
	}
	return c.Count(strings.Join(texts, "\n"))
}

// VerdictOf is the row of what the structural filter says of an attempt.
func VerdictOf(a *Attempt, s *arena.Structure) *Verdict {
	row := &Verdict{
		TraceID: a.TraceID, RecordSHA256: a.RecordSHA256, Keep: s.Keep, Axis: string(s.Axis),
		Confidence: s.Confidence, Adaptivity: s.Adaptivity, Reasons: s.Reasons, RichnessV1: s.RichnessV1, RichnessV2: s.RichnessV2,
		Checks: make([]CheckVerdict, 0, len(s.Verdicts)), Features: make([]Feature, 0, len(s.Features)),
	}
	for _, v := range s.Verdicts {
		row.Checks = append(row.Checks, CheckVerdict{
			Check: v.Check, Keep: v.Decision == arena.Keep, Reason: v.Reason, Value: v.Value, Limit: v.Limit,
		})
	}
	for _, f := range s.Features {
		if Finite(f.Value) != nil {
			row.Features = append(row.Features, Feature{Name: f.Name, Value: f.Value})
		}
	}
	return row
}

// JudgementOf is the row of a judgement of an attempt with the factor that came of it; nil for none.
func JudgementOf(a *Attempt, j *arena.Judgement, factor *float64) *Judgement {
	row := &Judgement{
		TraceID: a.TraceID, RecordSHA256: a.RecordSHA256, Judge: j.Judge, Outcome: string(j.Outcome), Score: j.Score,
		Multiplier: factor, Gates: j.Gates, Model: j.Model, PromptSHA256: j.PromptSHA256,
		PromptTokens: int64(j.PromptTokens), CompletionTokens: int64(j.CompletionTokens), CostUSD: j.CostUSD, Detail: j.Detail,
	}
	for _, s := range j.Spans {
		row.Spans = append(row.Spans, Span{Gate: int64(s.Gate), Step: int64(s.Step), Quote: s.Quote})
	}
	return row
}
