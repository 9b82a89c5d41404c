package inspectlog

import (
	"github.com/trajectory-arena/arena/internal/model"
)

// Run is what all samples of a log share.
type Run struct {
	// ID names the run and Task what is played in it.
	ID, Task string
	Model    string
	// ProblemIDs are in order; each has Samples samples.
	ProblemIDs []string
	Samples    int
	System     string
	MaxSteps   int
	Sampling   model.Sampling
	// Spec is everything that decides the run, for people to read.
	Spec any
}

// Score is one line of the results: inspect_ai's EvalScore.
type Score struct {
	Name   string `json:"name"`
	Scorer string `json:"scorer"`
	// Scored and Unscored count samples.
	Scored   int               `json:"scored_samples"`
	Unscored int               `json:"unscored_samples"`
	Params   struct{}          `json:"params"`
	Metrics  map[string]Metric `json:"metrics"`
}

// Metric is one number about a score.
type Metric struct {
	Name   string   `json:"name"`
	Value  float64  `json:"value"`
	Params struct{} `json:"params"`
}

// evalSpec, evalPlan and the types below are inspect_ai's documents of the same
// names, as far as a reader needs them.
type evalSpec struct {
	EvalID  string         `json:"eval_id"`
	RunID   string         `json:"run_id"`
	Created string         `json:"created"`
	Task    string         `json:"task"`
	TaskID  string         `json:"task_id"`
	Dataset evalDataset    `json:"dataset"`
	Model   string         `json:"model"`
	Config  evalConfig     `json:"config"`
	Params  generateConfig `json:"model_generate_config"`
	Spec    any            `json:"metadata"`
}

type evalDataset struct {
	Name      string   `json:"name"`
	Samples   int      `json:"samples"`
	SampleIDs []string `json:"sample_ids"`
	Shuffled  bool     `json:"shuffled"`
}

type evalConfig struct {
	Epochs int `json:"epochs"`
}

type generateConfig struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	TopK        *int     `json:"top_k,omitempty"`
	MaxTokens   *int     `json:"max_tokens,omitempty"`
}

type evalPlan struct {
	Name   string         `json:"name"`
	Steps  []planStep     `json:"steps"`
	Config generateConfig `json:"config"`
}

type planStep struct {
	Solver string         `json:"solver"`
	Params map[string]any `json:"params"`
}

type evalStart struct {
	Version int      `json:"version"`
	Eval    evalSpec `json:"eval"`
	Plan    evalPlan `json:"plan"`
}

type evalHeader struct {
	evalStart
	Status  string      `json:"status"`
	Results evalResults `json:"results"`
	Stats   evalStats   `json:"stats"`
}

type evalResults struct {
	Total     int     `json:"total_samples"`
	Completed int     `json:"completed_samples"`
	Scores    []Score `json:"scores"`
}

type evalStats struct {
	Started   string           `json:"started_at"`
	Completed string           `json:"completed_at"`
	Usage     map[string]usage `json:"model_usage"`
}

// usage counts tokens.
type usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Total  int64 `json:"total_tokens"`
}

func (l *Log) start() evalStart {
	s := l.run.Sampling
	params := generateConfig{Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK, MaxTokens: s.MaxTokens}
	ids := make([]string, len(l.run.ProblemIDs))
	for i, id := range l.run.ProblemIDs {
		ids[i] = sampleID(id)
	}
	return evalStart{
		Version: version,
		Eval: evalSpec{
			EvalID: l.run.ID, RunID: l.run.ID, Created: noTime, Task: l.run.Task, TaskID: l.run.ID,
			Dataset: evalDataset{Name: "problems", Samples: len(ids), SampleIDs: ids},
			Model:   l.run.Model, Config: evalConfig{Epochs: l.run.Samples}, Params: params, Spec: l.run.Spec,
		},
		Plan: evalPlan{
			Name: "plan", Steps: []planStep{{Solver: "arena", Params: map[string]any{"max_steps": l.run.MaxSteps}}}, Config: params,
		},
	}
}

func (l *Log) header(results []Score) evalHeader {
	return evalHeader{
		evalStart: l.start(), Status: "success",
		Results: evalResults{Total: l.count, Completed: l.count, Scores: results},
		Stats:   evalStats{Started: noTime, Completed: noTime, Usage: map[string]usage{l.run.Model: l.usage}},
	}
}
