package rows

// Text is a row of profile text: strings alone, which every tested loader reads alike. The
// system turn contains the tools, the contents contain the calls.
type Text struct {
	Messages []Msg `parquet:"messages,list"`
	AttemptColumns
	Origin
}

// AttemptColumns are the scalars of an SFT row that the rows of other encodings have too.
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

// ShareGPT is a row of profile sharegpt: an even number of turns, in which human or
// observation alternates with gpt or function_call.
type ShareGPT struct {
	Conversations []ShareGPTTurn `parquet:"conversations,list"`
	System        string         `parquet:"system"`
	// Tools is a JSON list of OpenAI definitions in one string.
	Tools string `parquet:"tools"`
	AttemptColumns
	Origin
}

// Prompts is a row of profile prompts: a problem for online training without a tool
// loop. The system turn contains the tools.
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

// VerlSFT is a row of profile verl-sft. The system turn contains the tools, because a
// column of tools would make verl's reader fail.
type VerlSFT struct {
	Messages []Msg `parquet:"messages,list"`
	Thinking bool  `parquet:"enable_thinking"`
	AttemptColumns
	Origin
}

// Weighted is a row of profile sft_weighted: an hf-json row with a weight, and with the
// turns of the model that are in the loss.
type Weighted struct {
	// Train has an entry for each of the model's turns. Those not in the loss have weight
	// 0 in Messages, the others 1.
	Train []bool `parquet:"train,list"`
	// Weight is 0 to 4; the mean is 1 before weights are bounded.
	Weight float64 `parquet:"weight"`
	SFT
}

// Axes is a row of profile axes: an attempt up to one of the model's turns, with the
// subnet's scores of the full attempt, each a separate label. Scores are 0 to 1, null if
// the task has no such axis.
type Axes struct {
	Prompt     []Msg `parquet:"prompt,list"`
	Completion []Msg `parquet:"completion,list"`
	// Turn is the number of the model's turns in Completion, Turns that in the attempt.
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
