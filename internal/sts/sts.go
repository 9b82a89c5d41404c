// Package sts is the format of a session as the Hub's trace viewer reads it: a
// file of lines, the header first.
package sts

import "encoding/json"

// Header is the first line of a session file. The format ignores keys of a header that it does not
// know; the last ones here are read by this project alone.
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

// Message is one message. Timestamp is in Unix milliseconds, nil if unknown; the viewer orders
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

// Function is what is called, the arguments as JSON in a string.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
