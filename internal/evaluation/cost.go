package evaluation

import (
	"fmt"
	"strings"
)

// Cost is what a run took. Null is what is not known: tokens that the server does
// not count, GPUs that nobody can see, dollars without a price.
type Cost struct {
	// SolvedProblems counts those that a sample solved.
	SolvedProblems int    `json:"solved_problems"`
	Total          Amount `json:"total"`
	// PerSolved is Total / SolvedProblems; null where none is solved.
	PerSolved *Amount `json:"per_solved_problem"`
	// Uncounted are the replies whose tokens, and dollars for them, are in no
	// figure: their server did not count them.
	Uncounted int `json:"uncounted_replies,omitempty"`
}

// Amount is a cost in each of its currencies.
type Amount struct {
	GPUSeconds   *float64 `json:"gpu_seconds"`
	PromptTokens *float64 `json:"prompt_tokens"`
	// CachedTokens are those of PromptTokens that servers say they had in their
	// caches; null where none says so.
	CachedTokens     *float64 `json:"cached_prompt_tokens"`
	CompletionTokens *float64 `json:"completion_tokens"`
	// TokenUSD is by a table of prices, GPUUSD by the price of an hour.
	TokenUSD *float64 `json:"token_usd"`
	GPUUSD   *float64 `json:"gpu_usd"`
}

// PerProblem fills in what a solved problem costs.
func (c *Cost) PerProblem() {
	if c.SolvedProblems == 0 {
		return
	}
	each := c.Total
	for _, field := range []**float64{&each.GPUSeconds, &each.PromptTokens, &each.CachedTokens, &each.CompletionTokens, &each.TokenUSD, &each.GPUUSD} {
		if *field != nil {
			*field = new(**field / float64(c.SolvedProblems))
		}
	}
	c.PerSolved = &each
}

// String is the cost of a solved problem in one line.
func (c Cost) String() string {
	if c.PerSolved == nil {
		return "cost          no problem is solved" + c.short()
	}
	var words []string
	for _, part := range []struct {
		value  *float64
		format string
	}{
		{c.PerSolved.GPUSeconds, "%.2f GPU seconds"}, {c.PerSolved.PromptTokens, "%.0f prompt tokens"}, {c.PerSolved.CachedTokens, "%.0f of them cached"},
		{c.PerSolved.CompletionTokens, "%.0f completion tokens"}, {c.PerSolved.TokenUSD, "%.6f USD of tokens"}, {c.PerSolved.GPUUSD, "%.6f USD of GPUs"},
	} {
		if part.value != nil {
			words = append(words, fmt.Sprintf(part.format, *part.value))
		}
	}
	if len(words) == 0 {
		words = []string{"unknown"}
	}
	return fmt.Sprintf("cost          %s a solved problem (%d solved)%s", strings.Join(words, ", "), c.SolvedProblems, c.short())
}

func (c Cost) short() string {
	if c.Uncounted == 0 {
		return ""
	}
	replies := map[bool]string{true: "reply", false: "replies"}[c.Uncounted == 1]
	return fmt.Sprintf("; the server counted no tokens for %d %s, which no figure holds", c.Uncounted, replies)
}

// TokensFile is the table of a run's tokens, where it keeps them.
const TokensFile = "tokens.parquet"

// TokensRow is one reply as tokens. Lists are empty where the server does not say.
type TokensRow struct {
	ProblemID string `parquet:"problem_id"`
	Sample    int32  `parquet:"sample"`
	// Rollout numbers the rollouts of the run in their order, Turn the replies of
	// each, both from 0.
	Rollout int64 `parquet:"rollout"`
	Turn    int32 `parquet:"turn"`
	// Prompt are the ids of all that the model was given for this reply, IDs those
	// of the reply, LogProbs their log-probabilities.
	Prompt   []int32   `parquet:"prompt_token_ids,list"`
	IDs      []int32   `parquet:"token_ids,list"`
	LogProbs []float32 `parquet:"logprobs,list"`
	// Top is how many likely tokens the two lists below have for each of the
	// reply's; -1 is an id that is not known.
	Top         int32     `parquet:"top"`
	TopIDs      []int32   `parquet:"top_token_ids,list"`
	TopLogProbs []float32 `parquet:"top_logprobs,list"`
}
