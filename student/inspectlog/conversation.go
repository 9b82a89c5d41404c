package inspectlog

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// doc is one of inspect_ai's documents, or a part of one, as far as a reader needs it.
type doc = map[string]any

// read reads a rollout's trace, whatever dialect it was played in, as messages and
// the model's last reply: inspect_ai's ChatMessage and ModelOutput.
func read(t *arena.Trace, model string) (messages []doc, output doc) {
	output = silent(model)
	for i, step := range t.Steps {
		reply, answers := turn(step, i+1)
		reply["model"] = model
		messages = append(append(messages, reply), answers...)
		if i == len(t.Steps)-1 {
			end(output, reply, step)
		}
	}
	return messages, output
}

func silent(model string) doc { return doc{"model": model, "choices": []doc{}, "completion": ""} }

func turn(step arena.Step, number int) (reply doc, answers []doc) {
	var calls []doc
	add := func(call, answer doc) {
		id := fmt.Sprintf("call_%d_%d", number, len(calls)+1)
		call["id"], call["type"] = id, "function"
		answer["role"], answer["tool_call_id"], answer["function"] = "tool", id, call["function"]
		calls, answers = append(calls, call), append(answers, answer)
	}
	for _, call := range step.Calls {
		add(doc{"function": call.Name, "arguments": tame(string(call.Arguments))}, doc{"content": call.Result.Text()})
	}
	for _, fault := range gjson.Get(string(step.Raw), "extra_info.malformed").ForEach {
		why := fault.Get("error").String()
		add(doc{"function": fault.Get("name").String(), "arguments": doc{"text": fault.Get("text").String()}, "parse_error": why},
			doc{"content": why, "error": doc{"type": "parsing", "message": why}})
	}
	reply = doc{"role": "assistant", "source": "generate", "content": content(step)}
	if len(calls) > 0 {
		reply["tool_calls"] = calls
	}
	return reply, answers
}

func content(s arena.Step) any {
	if s.Think == "" {
		return s.Response
	}
	parts := []doc{{"type": "reasoning", "reasoning": s.Think}}
	if s.Response != "" {
		parts = append(parts, doc{"type": "text", "text": s.Response})
	}
	return parts
}

func end(output, reply doc, step arena.Step) {
	var body gjson.Result
	if len(step.Proxy) > 0 {
		body = gjson.Parse(string(step.Proxy[0].Response))
	}
	output["completion"] = step.Response
	output["choices"] = []doc{{"message": reply, "stop_reason": stopReason(body.Get("choices.0.finish_reason").String())}}
	if u := body.Get("usage"); u.Get("completion_tokens").Exists() {
		in, out := u.Get("prompt_tokens").Int(), u.Get("completion_tokens").Int()
		output["usage"] = usage{in, out, in + out}
	}
}

func stopReason(finish string) string {
	switch finish {
	case "stop", "tool_calls", "content_filter":
		return finish
	case "length":
		return "max_tokens"
	default:
		return "unknown"
	}
}

// What Python reads of JSON has limits that JSON itself has not: numbers of
// 4,300 digits, some hundreds of levels, and no half of a surrogate pair in a
// text that is to be UTF-8. Far less than that is no shopping request.
const (
	maxDigits = 300
	maxLevels = 64
)

var longNumber = regexp.MustCompile(fmt.Sprintf("[0-9]{%d}", maxDigits))

// tame gives a call's arguments, an object, as any reader takes them: as they
// are, or the whole as a text where some reader could not read it.
func tame(raw string) json.RawMessage {
	if wild(raw) {
		return asjson.Bytes(doc{"text": raw})
	}
	return json.RawMessage(raw)
}

// wild reports whether a text is no object, or may hold what some reader cannot read.
func wild(raw string) bool {
	return !strings.HasPrefix(raw, "{") || !cursor.Valid(raw) || !utf8.ValidString(raw) || strings.Contains(raw, `\ud`) || strings.Contains(raw, `\uD`) ||
		strings.Count(raw, "{")+strings.Count(raw, "[") > maxLevels || len(raw) > maxDigits && longNumber.MatchString(raw)
}
