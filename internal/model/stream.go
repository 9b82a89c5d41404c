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

// eventStream is how a stream begins: with the first field of an event, or with
// a comment.
var eventStream = regexp.MustCompile(`^[ \r\n]*(?:data|event|id|retry)?:`)

// Unstreamed is the completion that a stream of server-sent events adds up to:
// some servers stream although they were asked not to. Bytes that are no such
// stream come back as they are, and so does a stream that stops before its end.
func Unstreamed(body []byte) []byte {
	if !eventStream.Match(body) {
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
		case !sum.add(string(data)):
			return body
		}
	}
	whole, err := sum.completion()
	if err != nil || !sum.done && sum.finish == "" {
		return body
	}
	return whole
}

type chunkSum struct {
	content, reasoning, refusal strings.Builder
	calls                       []streamedCall
	id, model, finish           string
	usage, prompt               json.RawMessage
	// logprobs and tokens are the elements of those lists, with commas before them.
	logprobs, tokens bytes.Buffer
	done             bool
}

type streamedCall struct {
	id, name  string
	arguments strings.Builder
}

func (s *chunkSum) add(data string) bool {
	event := gjson.Parse(data)
	if !cursor.Valid(data) || event.Get("error").Type != gjson.Null {
		return false
	}
	s.id, s.model = cmp.Or(s.id, event.Get("id").String()), cmp.Or(event.Get("model").String(), s.model)
	if usage := event.Get("usage"); usage.IsObject() {
		s.usage = json.RawMessage(usage.Raw)
	}
	if prompt := event.Get("prompt_token_ids"); prompt.IsArray() {
		s.prompt = json.RawMessage(prompt.Raw)
	}
	first := event.Get("choices.0")
	elements(&s.logprobs, first.Get("logprobs.content"))
	elements(&s.tokens, first.Get("token_ids"))
	s.content.WriteString(first.Get("delta.content").String())
	s.reasoning.WriteString(reasoning(first.Get("delta")))
	s.refusal.WriteString(first.Get("delta.refusal").String())
	s.finish = cmp.Or(first.Get("finish_reason").String(), s.finish)
	return s.addCalls(first.Get("delta.tool_calls").Array())
}

func elements(to *bytes.Buffer, list gjson.Result) {
	for _, v := range list.Array() {
		to.WriteString("," + v.Raw)
	}
}

// maxStreamed bounds the calls of a stream: their numbers are the server's.
const maxStreamed = 1 << 16

func (s *chunkSum) addCalls(pieces []gjson.Result) bool {
	for _, piece := range pieces {
		n := piece.Get("index").Int()
		if n < 0 || n > int64(len(s.calls)) || n >= maxStreamed {
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

func (s *chunkSum) completion() ([]byte, error) {
	message := map[string]any{"role": "assistant", "content": s.content.String()}
	if s.reasoning.Len() > 0 {
		message["reasoning_content"] = s.reasoning.String()
	}
	if s.refusal.Len() > 0 {
		message["refusal"] = s.refusal.String()
	}
	if len(s.calls) > 0 {
		calls := make([]Call, len(s.calls))
		for i := range s.calls {
			calls[i] = Call{s.calls[i].id, "function", Function{s.calls[i].name, s.calls[i].arguments.String()}}
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
	whole := map[string]any{"id": s.id, "model": s.model, "choices": []any{choice}}
	if s.prompt != nil {
		whole["prompt_token_ids"] = s.prompt
	}
	if s.usage != nil {
		whole["usage"] = s.usage
	}
	return json.Marshal(whole)
}
