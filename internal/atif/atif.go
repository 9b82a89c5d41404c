// Package atif defines the Agent Trajectory Interchange Format as this program writes it.
package atif

import "encoding/json"

// Version is the version of the format.
const Version = "ATIF-v1.7"

// Document is one trajectory.
type Document struct {
	Schema  string `json:"schema_version"`
	Session string `json:"session_id"`
	Agent   Agent  `json:"agent"`
	Steps   []Step `json:"steps"`
	Extra   *Extra `json:"extra"`
}

// Agent is the agent that acted. The format requires a name and a version.
type Agent struct {
	Name    string          `json:"name"`
	Version string          `json:"version"`
	Model   string          `json:"model_name,omitempty"`
	Tools   json.RawMessage `json:"tool_definitions,omitempty"`
}

// Step is a message with the calls that it makes and their results.
type Step struct {
	// ID is the number of the step, counted from 1.
	ID          int          `json:"step_id"`
	Timestamp   string       `json:"timestamp,omitempty"`
	Source      string       `json:"source"`
	Message     string       `json:"message"`
	Reasoning   string       `json:"reasoning_content,omitempty"`
	Calls       []Call       `json:"tool_calls,omitempty"`
	Observation *Observation `json:"observation,omitempty"`
	LLMCalls    *int         `json:"llm_call_count,omitempty"`
	Extra       *Extra       `json:"extra,omitempty"`
}

// Call is a call of a tool. Its arguments are a JSON object.
type Call struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Observation is the list of results of a step's calls.
type Observation struct {
	Results []Result `json:"results"`
}

// Result is the result of one call.
type Result struct {
	CallID  string `json:"source_call_id"`
	Content string `json:"content"`
}

// Extra has the fields that the format does not define. Readers of traces expect them here.
type Extra struct {
	Arena any `json:"arena"`
}

// The sources of steps.
const (
	SourceAgent  = "agent"
	SourceUser   = "user"
	SourceSystem = "system"
)
