// Package rows holds the row types of a corpus, a file for each version of
// them, and makes rows of attempts, pairs, problems and judged steps.
package rows

import "github.com/trajectory-arena/arena/corpus/chat"

// Msg is one message of the encodings that every loader reads: two strings.
type Msg = chat.Turn

// Origin says which problem a row belongs to. Every row of every config has
// it, and no split shares a cluster with another.
type Origin struct {
	ProblemID string `parquet:"problem_id"`
	Cluster   string `parquet:"dedup_cluster"`
}

// Scalars are the columns beside the messages of an attempt. A pointer is nil
// where the value could not be measured; it is then null, never zero.
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

// SFT is a row of profile hf-json: OpenAI messages and tools as JSON values.
// No column may be called prompt, completion, chosen, rejected, text or label:
// trainers would take the row for another kind.
type SFT struct {
	// Messages are JSON objects, the last one the assistant's.
	Messages []string `parquet:"messages,list" parquet-element:",json"`
	// Tools are JSON objects, one OpenAI definition each.
	Tools []string `parquet:"tools,list" parquet-element:",json"`
	// Metadata is one JSON object.
	Metadata string `parquet:"metadata,json"`
	// Goal is the customer's request, verbatim.
	Goal string `parquet:"goal"`
	Scalars
	Origin
}

// RL is a row of profile verl-rl: one problem to act on, with the columns that
// a curriculum selects by.
type RL struct {
	DataSource  string      `parquet:"data_source"`
	Prompt      []Msg       `parquet:"prompt,list"`
	Ability     string      `parquet:"ability"`
	RewardModel RewardModel `parquet:"reward_model"`
	Extra       RLExtra     `parquet:"extra_info"`
	AgentName   string      `parquet:"agent_name"`
	// Tools is a JSON list of OpenAI definitions in one string.
	Tools    string `parquet:"tools"`
	Harness  string `parquet:"harness"`
	TaskType string `parquet:"task_type"`
	Split    string `parquet:"split"`
	// Attempts are the scored attempts at the problem on the day, Successes
	// those among them that solved it.
	Attempts  int64 `parquet:"n_attempts"`
	Successes int64 `parquet:"n_successes"`
	// PassRate is Successes/Attempts with its 95 % Wilson interval; null where
	// nothing was scored.
	PassRate        *float64 `parquet:"pass_rate,optional"`
	WilsonLow       *float64 `parquet:"wilson95_low,optional"`
	WilsonHigh      *float64 `parquet:"wilson95_high,optional"`
	Difficulty      string   `parquet:"difficulty_bucket"`
	PipelineVersion string   `parquet:"pipeline_version"`
	Origin
}

// RewardModel is verl's reward specification: Truth is a JSON string.
type RewardModel struct {
	Style string `parquet:"style"`
	Truth string `parquet:"ground_truth"`
}

// RLExtra is verl's extra_info.
type RLExtra struct {
	Split     string    `parquet:"split"`
	Index     int64     `parquet:"index"`
	NeedTools bool      `parquet:"need_tools_kwargs"`
	Tools     ToolsArgs `parquet:"tools_kwargs"`
}

// ToolsArgs hands the tool that ends an episode what it grades against.
type ToolsArgs struct {
	Recommend struct {
		Create struct {
			Truth string `parquet:"ground_truth"`
		} `parquet:"create_kwargs"`
	} `parquet:"recommend_product"`
}

// Pref is a row of profile pref: two attempts at one problem in one harness.
type Pref struct {
	Prompt   []Msg  `parquet:"prompt,list"`
	Chosen   []Msg  `parquet:"chosen,list"`
	Rejected []Msg  `parquet:"rejected,list"`
	Harness  string `parquet:"harness"`
	TaskType string `parquet:"task_type"`
	Split    string `parquet:"split"`
	// Reason is what the two attempts differ in: outcome, judge or
	// outcome_and_judge.
	Reason string `parquet:"reason"`
	// Margin is the difference of their scores, in (0, 1].
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

// KTO is a row of profile kto: one attempt and whether it is wanted.
type KTO struct {
	Prompt     []Msg `parquet:"prompt,list"`
	Completion []Msg `parquet:"completion,list"`
	Label      bool  `parquet:"label"`
	// Reason says why the row has its label, as a stable snake_case word.
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

// Steps is a row of profile stepwise: the turns of one attempt, each with a
// label.
type Steps struct {
	Prompt      string   `parquet:"prompt"`
	Completions []string `parquet:"completions,list"`
	Labels      []bool   `parquet:"labels,list"`
	// Rewards are 1 for each step with a label that holds and 0 for the others;
	// that of the attempt's last step has its Reward added.
	Rewards []float64 `parquet:"step_rewards,list"`
	Reward  float64   `parquet:"reward"`
	// Reasons and Quotes say why each label holds or does not; empty where its
	// judge does not say.
	Reasons []string `parquet:"reasons,list"`
	Quotes  []string `parquet:"quotes,list"`
	// LeftOut counts the messages behind the last label: a row ends before the
	// first message on which the judge was unclear.
	LeftOut int64 `parquet:"n_left_out"`
	// Rule is the versioned name of what set the labels.
	Rule      string `parquet:"rule"`
	SessionID string `parquet:"session_id"`
	Split     string `parquet:"split"`
	Origin
}
