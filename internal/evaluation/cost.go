package evaluation

import (
	"fmt"
	"strings"
)

// Cost is the cost of a run. A field is null if it is unknown: the server counts no tokens, the
// GPUs are not visible, or there is no price.
type Cost struct {
	// SolvedProblems is the number of problems that at least one sample solved.
	SolvedProblems int    `json:"solved_problems"`
	Total          Amount `json:"total"`
	// PerSolved is Total divided by SolvedProblems. It is null if no problem is solved.
	PerSolved *Amount `json:"per_solved_problem"`
	// Uncounted is the number of replies whose tokens the server did not count. These replies
	// are not part of any other field.
	Uncounted int `json:"uncounted_replies,omitempty"`
}

// Amount is a cost in GPU time, tokens and dollars.
type Amount struct {
	GPUSeconds   *float64 `json:"gpu_seconds"`
	PromptTokens *float64 `json:"prompt_tokens"`
	// CachedTokens is the part of PromptTokens that the servers reported as cached. It is null
	// if no server reports it.
	CachedTokens     *float64 `json:"cached_prompt_tokens"`
	CompletionTokens *float64 `json:"completion_tokens"`
	// TokenUSD is computed from a table of token prices, GPUUSD from a price per GPU hour.
	TokenUSD *float64 `json:"token_usd"`
	GPUUSD   *float64 `json:"gpu_usd"`
}

// SetPerSolved sets PerSolved from Total and SolvedProblems.
func (c *Cost) SetPerSolved() {
	if c.SolvedProblems == 0 {
		return
	}
	per := c.Total
	fields := []**float64{
		&per.GPUSeconds,
		&per.PromptTokens,
		&per.CachedTokens,
		&per.CompletionTokens,
		&per.TokenUSD,
		&per.GPUUSD,
	}
	for _, field := range fields {
		if *field != nil {
			*field = new(**field / float64(c.SolvedProblems))
		}
	}
	c.PerSolved = &per
}

// String returns the cost of a solved problem as one line of text.
func (c Cost) String() string {
	if c.PerSolved == nil {
		return "cost          no problem is solved" + c.uncountedNote()
	}
	amounts := []struct {
		value  *float64
		format string
	}{
		{c.PerSolved.GPUSeconds, "%.2f GPU seconds"},
		{c.PerSolved.PromptTokens, "%.0f prompt tokens"},
		{c.PerSolved.CachedTokens, "%.0f of them cached"},
		{c.PerSolved.CompletionTokens, "%.0f completion tokens"},
		{c.PerSolved.TokenUSD, "%.6f USD of tokens"},
		{c.PerSolved.GPUUSD, "%.6f USD of GPUs"},
	}
	var words []string
	for _, amount := range amounts {
		if amount.value != nil {
			words = append(words, fmt.Sprintf(amount.format, *amount.value))
		}
	}
	if len(words) == 0 {
		words = []string{"unknown"}
	}
	list := strings.Join(words, ", ")
	return fmt.Sprintf("cost          %s a solved problem (%d solved)%s", list, c.SolvedProblems, c.uncountedNote())
}

// uncountedNote returns the last part of the text of Cost.String, which says how many replies have
// no token counts. It returns "" if all have.
func (c Cost) uncountedNote() string {
	if c.Uncounted == 0 {
		return ""
	}
	replies := "replies"
	if c.Uncounted == 1 {
		replies = "reply"
	}
	return fmt.Sprintf("; the server counted no tokens for %d %s, which no figure holds", c.Uncounted, replies)
}

// TokensFile is the name of the table of a run's tokens. Only runs with the setting Keep.Tokens
// write it.
const TokensFile = "tokens.parquet"

// TokensRow is one reply as tokens. Lists that the server does not report are empty.
type TokensRow struct {
	ProblemID string `parquet:"problem_id"`
	Sample    int32  `parquet:"sample"`
	// Rollout is the position of the rollout in the run. Turn is the position of the reply in
	// the rollout. Both are counted from 0.
	Rollout int64 `parquet:"rollout"`
	Turn    int32 `parquet:"turn"`
	// Prompt has the token ids of the reply's complete prompt, IDs those of the reply. LogProbs
	// has the log-probabilities of the reply's tokens.
	Prompt   []int32   `parquet:"prompt_token_ids,list"`
	IDs      []int32   `parquet:"token_ids,list"`
	LogProbs []float32 `parquet:"logprobs,list"`
	// Top is the number of entries per token of the reply in TopIDs and TopLogProbs. An unknown
	// id is -1.
	Top         int32     `parquet:"top"`
	TopIDs      []int32   `parquet:"top_token_ids,list"`
	TopLogProbs []float32 `parquet:"top_logprobs,list"`
}
