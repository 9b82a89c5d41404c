package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// eventStream matches the start of a stream of server-sent events: the first field of an event, or
// a comment.
var eventStream = regexp.MustCompile(`^[ \r\n]*(?:data|event|id|retry)?:`)

// JoinStream returns the completion that a stream of server-sent events adds up to. Some
// servers stream although the request forbids it. Other bodies are returned unchanged,
// and so are streams without an end.
func JoinStream(body []byte) []byte {
	if !eventStream.Match(body) {
		return body
	}
	var sum chunkSum
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		data = bytes.TrimSpace(data)
		switch {
		case !ok || len(data) == 0:
		case string(data) == "[DONE]":
			sum.done = true
		case !sum.add(string(data)):
			return body
		}
	}
	if !sum.done && sum.finish == "" {
		return body
	}
	completion, err := sum.completion()
	if err != nil {
		return body
	}
	return completion
}

// chunkSum joins the chunks of a streamed reply.
type chunkSum struct {
	content, reasoning, refusal strings.Builder
	calls                       []streamedCall
	id, model, finish           string
	usage, prompt               json.RawMessage
	// logprobs and tokens hold the elements of these lists, each preceded by a comma.
	logprobs, tokens bytes.Buffer
	done             bool
}

type streamedCall struct {
	id, name  string
	arguments strings.Builder
}

// add adds a chunk of the reply, in JSON. It returns false if the chunk is invalid or an error
// message.
func (s *chunkSum) add(data string) bool {
	event := gjson.Parse(data)
	if !cursor.Valid(data) || event.Get("error").Type != gjson.Null {
		return false
	}
	s.id = cmp.Or(s.id, event.Get("id").String())
	s.model = cmp.Or(event.Get("model").String(), s.model)
	if usage := event.Get("usage"); usage.IsObject() {
		s.usage = json.RawMessage(usage.Raw)
	}
	if prompt := event.Get("prompt_token_ids"); prompt.IsArray() {
		s.prompt = json.RawMessage(prompt.Raw)
	}
	choice := event.Get("choices.0")
	appendElements(&s.logprobs, choice.Get("logprobs.content"))
	appendElements(&s.tokens, choice.Get("token_ids"))
	delta := choice.Get("delta")
	s.content.WriteString(delta.Get("content").String())
	s.reasoning.WriteString(reasoning(delta))
	s.refusal.WriteString(delta.Get("refusal").String())
	s.finish = cmp.Or(choice.Get("finish_reason").String(), s.finish)
	return s.addCalls(delta.Get("tool_calls").Array())
}

// appendElements writes the elements of a JSON list to b, each preceded by a comma.
func appendElements(b *bytes.Buffer, list gjson.Result) {
	for _, v := range list.Array() {
		b.WriteString("," + v.Raw)
	}
}

// maxStreamedCalls is the maximum number of calls in a streamed reply, in which the server chooses
// the indices.
const maxStreamedCalls = 1 << 16

// addCalls adds parts of tool calls to the calls with their indices. It returns false if an index
// is invalid.
func (s *chunkSum) addCalls(pieces []gjson.Result) bool {
	for _, piece := range pieces {
		n := piece.Get("index").Int()
		if n < 0 || n > int64(len(s.calls)) || n >= maxStreamedCalls {
			return false
		}
		if n == int64(len(s.calls)) {
			s.calls = append(s.calls, streamedCall{})
		}
		c := &s.calls[n]
		c.id += piece.Get("id").String()
		c.name += piece.Get("function.name").String()
		c.arguments.WriteString(piece.Get("function.arguments").String())
	}
	return true
}

// completion returns the joined chunks as a chat completion.
func (s *chunkSum) completion() ([]byte, error) {
	message := map[string]any{
		"role":    "assistant",
		"content": s.content.String(),
	}
	if s.reasoning.Len() > 0 {
		message["reasoning_content"] = s.reasoning.String()
	}
	if s.refusal.Len() > 0 {
		message["refusal"] = s.refusal.String()
	}
	if len(s.calls) > 0 {
		calls := make([]Call, len(s.calls))
		for i := range s.calls {
			function := Function{
				Name:      s.calls[i].name,
				Arguments: s.calls[i].arguments.String(),
			}
			calls[i] = Call{
				ID:       s.calls[i].id,
				Type:     "function",
				Function: function,
			}
		}
		message["tool_calls"] = calls
	}
	choice := map[string]any{"message": message, "finish_reason": s.finish}
	if b := s.logprobs.Bytes(); len(b) > 0 {
		choice["logprobs"] = json.RawMessage(`{"content":[` + string(b[1:]) + `]}`)
	}
	if b := s.tokens.Bytes(); len(b) > 0 {
		choice["token_ids"] = json.RawMessage("[" + string(b[1:]) + "]")
	}
	completion := map[string]any{
		"id":      s.id,
		"model":   s.model,
		"choices": []any{choice},
	}
	if s.prompt != nil {
		completion["prompt_token_ids"] = s.prompt
	}
	if s.usage != nil {
		completion["usage"] = s.usage
	}
	return json.Marshal(completion)
}
