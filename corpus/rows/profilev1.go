package rows

// Text is a row of profile text, which consists of strings only, so that all tested loaders read
// it in the same way. The system turn contains the tools, and the contents contain the calls.
type Text struct {
	Messages []Msg `parquet:"messages,list"`
	AttemptColumns
	Origin
}

// AttemptColumns are the scalar columns of an SFT row that rows of other encodings have too.
type AttemptColumns struct {
	SessionID    string  `parquet:"session_id"`
	Harness      string  `parquet:"harness"`
	TaskType     string  `parquet:"task_type"`
	Split        string  `parquet:"split"`
	Reward       float64 `parquet:"reward"`
	NTokens      int64   `parquet:"n_tokens"`
	TokenCounter string  `parquet:"token_counter"`
}

// ShareGPTTurn is a turn of profile sharegpt.
type ShareGPTTurn struct {
	From  string `parquet:"from"`
	Value string `parquet:"value"`
}

// ShareGPT is a row of profile sharegpt. It has an even number of turns, in which human or
// observation alternates with gpt or function_call.
type ShareGPT struct {
	Conversations []ShareGPTTurn `parquet:"conversations,list"`
	System        string         `parquet:"system"`
	// Tools is a JSON list of OpenAI tool definitions.
	Tools string `parquet:"tools"`
	AttemptColumns
	Origin
}

// Prompts is a row of profile prompts: a problem for online training without a tool loop. The
// system turn contains the tools.
type Prompts struct {
	Prompt []Msg `parquet:"prompt,list"`
	// Truth is the reward specification as a JSON string.
	Truth      string   `parquet:"ground_truth"`
	Harness    string   `parquet:"harness"`
	TaskType   string   `parquet:"task_type"`
	Split      string   `parquet:"split"`
	Attempts   int64    `parquet:"n_attempts"`
	Successes  int64    `parquet:"n_successes"`
	PassRate   *float64 `parquet:"pass_rate,optional"`
	Difficulty string   `parquet:"difficulty_bucket"`
	Origin
}

// VerlSFT is a row of profile verl-sft. The tools are in the system turn, because verl's reader
// fails on a column of tools.
type VerlSFT struct {
	Messages []Msg `parquet:"messages,list"`
	Thinking bool  `parquet:"enable_thinking"`
	AttemptColumns
	Origin
}

// Weighted is a row of profile sft_weighted: an hf-json row with a weight, and a mark for each
// turn of the model that counts in the loss.
type Weighted struct {
	// Train has one entry for each of the model's turns. In Messages, turns that count in the
	// loss have weight 1, others 0.
	Train []bool `parquet:"train,list"`
	// Weight is from 0 to 4. The mean weight is 1 before weights are limited to that range.
	Weight float64 `parquet:"weight"`
	SFT
}

// Axes is a row of profile axes: an attempt up to one of the model's turns, with the subnet's
// scores of the complete attempt, each as a separate label. Scores are from 0 to 1, null if the
// task does not have the axis.
type Axes struct {
	Prompt     []Msg `parquet:"prompt,list"`
	Completion []Msg `parquet:"completion,list"`
	// Turn is the number of the model's turn in Completion, and Turns the number of such turns
	// in the attempt.
	Turn      int64    `parquet:"turn"`
	Turns     int64    `parquet:"n_turns"`
	Success   bool     `parquet:"success"`
	Product   *float64 `parquet:"product,optional"`
	Rule      *float64 `parquet:"rule,optional"`
	Title     *float64 `parquet:"title,optional"`
	Price     *float64 `parquet:"price,optional"`
	Service   *float64 `parquet:"service,optional"`
	SKUAttrs  *float64 `parquet:"sku_attrs,optional"`
	Shop      *int64   `parquet:"shop,optional"`
	Budget    *int64   `parquet:"budget,optional"`
	SessionID string   `parquet:"session_id"`
	Harness   string   `parquet:"harness"`
	TaskType  string   `parquet:"task_type"`
	Split     string   `parquet:"split"`
	Origin
}
