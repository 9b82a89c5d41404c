package environment

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/canonical"
	"github.com/trajectory-arena/arena/internal/model"
)

// Reply is one reply of the model, by the trainer's account.
type Reply struct {
	Text  string
	Think string
	Calls []model.Call
}

// body returns the reply as the JSON body of a chat completion, the form in which a model server
// would have sent it. n is the position of the reply from 0 and part of its id.
func (r Reply) body(n int) []byte {
	finishReason := "stop"
	if len(r.Calls) > 0 {
		finishReason = "tool_calls"
	}
	message := map[string]any{
		"role":              "assistant",
		"content":           r.Text,
		"reasoning_content": r.Think,
		"tool_calls":        r.Calls,
	}
	return asjson.Bytes(map[string]any{
		"id":     fmt.Sprintf("env-%d", n+1),
		"object": "chat.completion",
		"choices": []any{
			map[string]any{"index": 0, "finish_reason": finishReason, "message": message},
		},
	})
}

// isSameCall reports whether two calls have the same function name and equal arguments. Arguments
// are compared as JSON values, not as text.
func isSameCall(a, b model.Call) bool {
	return a.Function.Name == b.Function.Name &&
		canonical.Form(a.Function.Arguments) == canonical.Form(b.Function.Arguments)
}

// isReadable reports whether the arguments of a call are a valid JSON object.
func isReadable(c model.Call) bool {
	return gjson.Parse(c.Function.Arguments).IsObject() &&
		gjson.Valid(c.Function.Arguments)
}

// maxItems is the maximum number of output items in an object of OpenAI's Responses API.
const maxItems = 4096

// ReadOutput reads the output of an object of OpenAI's Responses API. All reasoning, messages and
// calls between two results of calls are one reply.
func ReadOutput(output gjson.Result) ([]Reply, error) {
	if !output.IsArray() {
		return nil, errors.New("read the response: output is no list")
	}
	items := output.Array()
	if len(items) > maxItems {
		return nil, fmt.Errorf("read the response: more than %d items", maxItems)
	}

	var replies []Reply
	startsReply := true
	for _, item := range items {
		kind := item.Get("type").String()
		if kind == "function_call_output" {
			startsReply = true
			continue
		}
		if startsReply {
			replies = append(replies, Reply{})
			startsReply = false
		}
		r := &replies[len(replies)-1]
		switch kind {
		case "reasoning":
			r.Think += model.JoinText(item.Get("content")) + model.JoinText(item.Get("summary"))
		case "message":
			r.Text += model.JoinText(item.Get("content"))
		case "function_call":
			r.Calls = append(r.Calls, model.NewCall(item.Get("call_id").String(), item))
		}
	}
	return replies, nil
}
