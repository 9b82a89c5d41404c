package evaluation

// TokensFile is the table of a run's tokens, where it keeps them.
const TokensFile = "tokens.parquet"

// TokensRow is one reply as tokens. Lists are empty where the server does not say.
type TokensRow struct {
	ProblemID string `parquet:"problem_id,dict"`
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
