package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/trajectory-arena/arena"
)

// Template is what all requests of a run share: all but the messages behind the
// first one, and the seed.
type Template struct {
	head, tail []byte
	// free is the tail without max_tokens; nil where that is not sent.
	free []byte
}

// NewTemplate makes the shared part. The system prompt is every conversation's
// first message. Tools are sent only where they are given.
func NewTemplate(model, system string, sampling Sampling, tools []arena.Raw) (*Template, error) {
	name, err := json.Marshal(model)
	if err != nil {
		return nil, fmt.Errorf("encode model name: %w", err)
	}
	first, err := json.Marshal(Turn{Role: "system", Content: system})
	if err != nil {
		return nil, fmt.Errorf("encode system prompt: %w", err)
	}
	t := &Template{head: slices.Concat([]byte(`{"model":`), name, []byte(`,"messages":[`), first)}
	if t.tail, err = tail(sampling, tools); err != nil || sampling.MaxTokens == nil {
		return t, err
	}
	sampling.MaxTokens = nil
	t.free, err = tail(sampling, tools)
	return t, err
}

// tail is what stands behind the messages.
func tail(sampling Sampling, tools []arena.Raw) ([]byte, error) {
	fields, err := json.Marshal(sampling)
	if err != nil {
		return nil, fmt.Errorf("encode sampling: %w", err)
	}
	t := []byte{']'}
	if len(tools) > 0 {
		t = append(t, `,"tools":[`...)
		for i, def := range tools {
			if i > 0 {
				t = append(t, ',')
			}
			t = append(t, def...)
		}
		t = append(t, ']')
	}
	if inner := fields[1 : len(fields)-1]; len(inner) > 0 {
		t = append(append(t, ','), inner...)
	}
	return append(t, `,"stream":false,"seed":`...), nil
}

// Request asks for the next reply to a conversation.
func (t *Template) Request(c Conversation, seed int64) Body { return t.request(c, t.tail, seed) }

// Unbounded is the same request without max_tokens; nil where that is not sent.
func (t *Template) Unbounded(c Conversation, seed int64) Body {
	if t.free == nil {
		return nil
	}
	return t.request(c, t.free, seed)
}

func (t *Template) request(c Conversation, tail []byte, seed int64) Body {
	return slices.Concat(Body{t.head}, Body(c), Body{tail, append(strconv.AppendInt(nil, seed, 10), '}')})
}

// Turn is one message of a conversation.
type Turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Reasoning goes back only where the server told it apart.
	Reasoning string `json:"reasoning_content,omitempty"`
	ToolCalls []Call `json:"tool_calls,omitempty"`
	// CallID is the call that a tool message answers.
	CallID string `json:"tool_call_id,omitempty"`
}

// Conversation is the messages behind the system prompt as JSON, each behind
// its comma.
type Conversation [][]byte

var comma = []byte{','}

// Append adds a message.
func (c Conversation) Append(m Turn) (Conversation, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return append(c, comma, b), nil
}
