// Package sts defines the format of session files for the Hub's trace viewer: a file of JSON
// lines, the first of which is a header.
package sts

import "encoding/json"

// Header is the first line of a session file. The format ignores unknown keys of a header. Only
// this project reads the last ones here.
type Header struct {
	Type      string          `json:"type"`
	Harness   string          `json:"harness"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	RunID     string          `json:"eval_run_id,omitempty"`
	ProblemID string          `json:"problem_id,omitempty"`
	Model     string          `json:"model,omitempty"`
	Reward    *float64        `json:"reward,omitempty"`
	Tools     json.RawMessage `json:"tools,omitempty"`
}

// Line is any other line of a session file.
type Line struct {
	Type    string  `json:"type"`
	Message Message `json:"message"`
}

// Message is one message. Timestamp is in Unix milliseconds, nil if unknown. The viewer sorts
// messages by their times.
type Message struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Reasoning string `json:"reasoningContent,omitempty"`
	Calls     []Call `json:"toolCalls,omitempty"`
	CallID    string `json:"toolCallId,omitempty"`
	Timestamp *int64 `json:"timestamp,omitempty"`
	Model     string `json:"model,omitempty"`
}

// Call is a call of a tool.
type Call struct {
	ID       string   `json:"id"`
	Function Function `json:"function"`
}

// Function is the name of the called function. The arguments are JSON in a string.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
