package rows

// Text is a row of profile text: strings alone, read alike by every loader
// that was tried. Tools stand in the system turn, calls inside the content.
type Text struct {
	Messages []Msg `parquet:"messages,list"`
	AttemptColumns
	Origin
}

// AttemptColumns are the scalars that rows of other encodings carry on.
type AttemptColumns struct {
	SessionID    string  `parquet:"session_id"`
	Harness      string  `parquet:"harness"`
	TaskType     string  `parquet:"task_type"`
	Split        string  `parquet:"split"`
	Reward       float64 `parquet:"reward"`
	NTokens      int64   `parquet:"n_tokens"`
	TokenCounter string  `parquet:"token_counter"`
}

// Said is one turn of profile sharegpt.
type Said struct {
	From  string `parquet:"from"`
	Value string `parquet:"value"`
}

// ShareGPT is a row of profile sharegpt: an even number of turns, human or
// observation first, gpt or function_call second.
type ShareGPT struct {
	Conversations []Said `parquet:"conversations,list"`
	System        string `parquet:"system"`
	// Tools is a JSON list of OpenAI definitions in one string.
	Tools string `parquet:"tools"`
	AttemptColumns
	Origin
}

// Prompts is a row of profile prompts: a problem for online training without a
// tool loop, its tools in the system turn.
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

// VerlSFT is a row of profile verl-sft. A column of tools would make its
// reader fail, so they stand in the system turn.
type VerlSFT struct {
	Messages []Msg `parquet:"messages,list"`
	Thinking bool  `parquet:"enable_thinking"`
	AttemptColumns
	Origin
}

// Weighted is a row of profile sft_weighted: an hf-json row that says which of the
// model's turns train, and how much the row counts.
type Weighted struct {
	// Train has an entry for each of the model's turns. In Messages those that do not
	// train have weight 0, the others 1.
	Train []bool `parquet:"train,list"`
	// Weight is 0 to 4; the mean is 1 before weights are bounded.
	Weight float64 `parquet:"weight"`
	SFT
}

// Axes is a row of profile axes: an attempt up to one of the model's turns, with the
// subnet's scores of the whole attempt, each a label by itself. Scores are in 0 to 1;
// null where the task has no such axis.
type Axes struct {
	Prompt     []Msg `parquet:"prompt,list"`
	Completion []Msg `parquet:"completion,list"`
	// Turn counts the model's turns in Completion, Turns those of the attempt.
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
