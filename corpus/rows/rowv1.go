// Package rows defines the row types of a corpus, whose version is in the names of their files.
// It builds rows of attempts, pairs, problems and judged steps.
package rows

import "github.com/trajectory-arena/arena/corpus/chat"

// Msg is a message of two strings, which every loader can read.
type Msg = chat.Turn

// Origin is the problem of a row, and the cluster of that problem's near-duplicates. Every row
// of every config has it. All rows of a cluster are in one split.
type Origin struct {
	ProblemID string `parquet:"problem_id"`
	Cluster   string `parquet:"dedup_cluster"`
}

// Scalars are the columns of an attempt other than its messages. A value that could not be
// measured is nil, which is null in the file, and never zero.
type Scalars struct {
	SessionID       string   `parquet:"session_id"`
	Harness         string   `parquet:"harness"`
	TaskType        string   `parquet:"task_type"`
	Split           string   `parquet:"split"`
	Reward          float64  `parquet:"reward"`
	OutcomeScore    *float64 `parquet:"outcome_score,optional"`
	JudgeScore      *float64 `parquet:"judge_score,optional"`
	JudgeMultiplier *float64 `parquet:"judge_multiplier,optional"`
	AgenticScore    *float64 `parquet:"agentic_score,optional"`
	IsAgentic       bool     `parquet:"is_agentic"`
	StopCondition   string   `parquet:"stop_condition"`
	HasError        bool     `parquet:"has_error"`
	IsTruncated     bool     `parquet:"is_truncated"`
	NSteps          int64    `parquet:"n_steps"`
	NToolCalls      int64    `parquet:"n_tool_calls"`
	NTokens         int64    `parquet:"n_tokens"`
	TokenCounter    string   `parquet:"token_counter"`
	AgentHotkey     string   `parquet:"agent_hotkey"`
	AgentVersion    string   `parquet:"agent_version"`
	// RunDate is in Unix milliseconds.
	RunDate         *int64   `parquet:"run_date,optional,timestamp(millisecond)"`
	SourceSHA256    string   `parquet:"source_sha256"`
	LeakMaxScore    *float64 `parquet:"leak_max_score,optional"`
	PipelineVersion string   `parquet:"pipeline_version"`
}

// SFT is a row of profile hf-json: OpenAI messages and tools as JSON values. No column may be
// named prompt, completion, chosen, rejected, text or label, since trainers would infer another
// kind of row.
type SFT struct {
	// Messages are JSON objects. The last one is the assistant's.
	Messages []string `parquet:"messages,list" parquet-element:",json"`
	// Tools are OpenAI tool definitions, one JSON object each.
	Tools []string `parquet:"tools,list" parquet-element:",json"`
	// Metadata is a JSON object.
	Metadata string `parquet:"metadata,json"`
	// Goal is the customer's request, verbatim.
	Goal string `parquet:"goal"`
	Scalars
	Origin
}

// RL is a row of profile verl-rl: a problem with the columns for selecting a curriculum.
type RL struct {
	DataSource  string      `parquet:"data_source"`
	Prompt      []Msg       `parquet:"prompt,list"`
	Ability     string      `parquet:"ability"`
	RewardModel RewardModel `parquet:"reward_model"`
	Extra       RLExtra     `parquet:"extra_info"`
	AgentName   string      `parquet:"agent_name"`
	// Tools is a JSON list of OpenAI tool definitions.
	Tools    string `parquet:"tools"`
	Harness  string `parquet:"harness"`
	TaskType string `parquet:"task_type"`
	Split    string `parquet:"split"`
	// Attempts is the number of scored attempts at the problem on the day. Successes is the
	// number of those that solved it.
	Attempts  int64 `parquet:"n_attempts"`
	Successes int64 `parquet:"n_successes"`
	// PassRate is Successes/Attempts. WilsonLow and WilsonHigh are the ends of its 95 % Wilson
	// interval. The three are null if Attempts is 0.
	PassRate        *float64 `parquet:"pass_rate,optional"`
	WilsonLow       *float64 `parquet:"wilson95_low,optional"`
	WilsonHigh      *float64 `parquet:"wilson95_high,optional"`
	Difficulty      string   `parquet:"difficulty_bucket"`
	PipelineVersion string   `parquet:"pipeline_version"`
	Origin
}

// RewardModel is the reward specification in verl's format. Truth is a JSON object in a string.
type RewardModel struct {
	Style string `parquet:"style"`
	Truth string `parquet:"ground_truth"`
}

// RLExtra is the content of verl's column extra_info.
type RLExtra struct {
	Split     string    `parquet:"split"`
	Index     int64     `parquet:"index"`
	NeedTools bool      `parquet:"need_tools_kwargs"`
	Tools     ToolsArgs `parquet:"tools_kwargs"`
}

// ToolsArgs are the arguments by which verl passes the ground truth to the tool that ends an
// episode.
type ToolsArgs struct {
	Recommend struct {
		Create struct {
			Truth string `parquet:"ground_truth"`
		} `parquet:"create_kwargs"`
	} `parquet:"recommend_product"`
}

// Pref is a row of profile pref: a pair of attempts at one problem, in one harness.
type Pref struct {
	Prompt   []Msg  `parquet:"prompt,list"`
	Chosen   []Msg  `parquet:"chosen,list"`
	Rejected []Msg  `parquet:"rejected,list"`
	Harness  string `parquet:"harness"`
	TaskType string `parquet:"task_type"`
	Split    string `parquet:"split"`
	// Reason is the reason why one attempt is preferred: outcome, judge or outcome_and_judge.
	Reason string `parquet:"reason"`
	// Margin is the difference of the two scores. It is above 0 and at most 1.
	Margin          float64 `parquet:"margin"`
	ChosenScore     float64 `parquet:"chosen_score"`
	RejectedScore   float64 `parquet:"rejected_score"`
	ChosenTokens    int64   `parquet:"chosen_tokens"`
	RejectedTokens  int64   `parquet:"rejected_tokens"`
	ChosenSession   string  `parquet:"chosen_session_id"`
	RejectedSession string  `parquet:"rejected_session_id"`
	PipelineVersion string  `parquet:"pipeline_version"`
	Origin
}

// KTO is a row of profile kto: an attempt with a label that tells whether it is desirable.
type KTO struct {
	Prompt     []Msg `parquet:"prompt,list"`
	Completion []Msg `parquet:"completion,list"`
	Label      bool  `parquet:"label"`
	// Reason is the code of the reason for the label.
	Reason          string  `parquet:"reason"`
	Score           float64 `parquet:"score"`
	NTokens         int64   `parquet:"n_tokens"`
	SessionID       string  `parquet:"session_id"`
	Harness         string  `parquet:"harness"`
	TaskType        string  `parquet:"task_type"`
	Split           string  `parquet:"split"`
	PipelineVersion string  `parquet:"pipeline_version"`
	Origin
}

// Steps is a row of profile stepwise: the turns of an attempt, each with a label.
type Steps struct {
	Prompt      string   `parquet:"prompt"`
	Completions []string `parquet:"completions,list"`
	Labels      []bool   `parquet:"labels,list"`
	// Rewards are 1 for each step with label true and 0 for all others. The attempt's Reward is
	// added to the reward of its last step.
	Rewards []float64 `parquet:"step_rewards,list"`
	Reward  float64   `parquet:"reward"`
	// Reasons and Quotes are the judge's reasons for the labels. They are empty if there are
	// none.
	Reasons []string `parquet:"reasons,list"`
	Quotes  []string `parquet:"quotes,list"`
	// LeftOut is the number of messages after the last label. A row ends before the first
	// message for which the judge's verdict was unclear.
	LeftOut int64 `parquet:"n_left_out"`
	// Rule is the name, with version, of the rule that set the labels.
	Rule      string `parquet:"rule"`
	SessionID string `parquet:"session_id"`
	Split     string `parquet:"split"`
	Origin
}
