package client

import (
	"bytes"
	"encoding/json"
	"strings"
)

// chunk is one event of a streamed completion, as far as it is read.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Delta struct {
			Content   string `json:"content"`
			Reasoning string `json:"reasoning_content"`
			Refusal   string `json:"refusal"`
		} `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// unstreamed is the completion that a stream of server-sent events adds up to:
// some servers stream although they were asked not to. Bytes that are no such
// stream come back as they are, and so does a stream that stops before its end.
func unstreamed(body []byte) []byte {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \r\n"), []byte("data:")) && !bytes.HasPrefix(body, []byte(":")) {
		return body
	}
	var sum chunkSum
	for line := range bytes.Lines(body) {
		data, found := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		data = bytes.TrimSpace(data)
		switch {
		case !found || len(data) == 0:
		case string(data) == "[DONE]":
			sum.done = true
		case !sum.add(data):
			return body
		}
	}
	whole, err := sum.completion()
	if err != nil || !sum.done && sum.finish == "" {
		return body
	}
	return whole
}

// chunkSum adds up the events of a stream.
type chunkSum struct {
	content, reasoning, refusal strings.Builder
	model, finish               string
	usage                       json.RawMessage
	done                        bool
}

func (s *chunkSum) add(data []byte) bool {
	var c chunk
	if json.Unmarshal(data, &c) != nil || len(c.Error) > 0 {
		return false
	}
	if c.Model != "" {
		s.model = c.Model
	}
	if len(c.Usage) > 0 && string(c.Usage) != "null" {
		s.usage = c.Usage
	}
	for _, choice := range c.Choices[:min(len(c.Choices), 1)] {
		s.content.WriteString(choice.Delta.Content)
		s.reasoning.WriteString(choice.Delta.Reasoning)
		s.refusal.WriteString(choice.Delta.Refusal)
		if choice.Finish != "" {
			s.finish = choice.Finish
		}
	}
	return true
}

func (s *chunkSum) completion() ([]byte, error) {
	message := map[string]any{"role": "assistant", "content": s.content.String()}
	if s.reasoning.Len() > 0 {
		message["reasoning_content"] = s.reasoning.String()
	}
	if s.refusal.Len() > 0 {
		message["refusal"] = s.refusal.String()
	}
	whole := map[string]any{"model": s.model, "choices": []any{map[string]any{"message": message, "finish_reason": s.finish}}}
	if s.usage != nil {
		whole["usage"] = s.usage
	}
	return json.Marshal(whole)
}
