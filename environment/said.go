package environment

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/canonical"
	"github.com/trajectory-arena/arena/internal/model"
)

// Reply is one reply of the model as a trainer tells of it.
type Reply struct {
	Text, Think string
	Calls       []model.Call
}

func (s Reply) body(n int) []byte {
	finish := "stop"
	if len(s.Calls) > 0 {
		finish = "tool_calls"
	}
	return asjson.Bytes(map[string]any{
		"id": fmt.Sprintf("env-%d", n+1), "object": "chat.completion",
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": map[string]any{
			"role": "assistant", "content": s.Text, "reasoning_content": s.Think, "tool_calls": s.Calls,
		}}},
	})
}

// same reports whether a call is the one that was made: arguments by their values.
func (m made) same(c model.Call) bool {
	return m.call.Function.Name == c.Function.Name && canonical.Form(m.call.Function.Arguments) == canonical.Form(c.Function.Arguments)
}

func readable(c model.Call) bool {
	return gjson.Parse(c.Function.Arguments).IsObject() && gjson.Valid(c.Function.Arguments)
}

const maxItems = 4096

// ReadOutput reads the output of a Responses object: reasoning, messages and calls
// that stand between two results are one reply.
func ReadOutput(output gjson.Result) (all []Reply, err error) {
	if !output.IsArray() {
		return nil, errors.New("read the response: output is no list")
	}
	items := output.Array()
	if len(items) > maxItems {
		return nil, fmt.Errorf("read the response: more than %d items", maxItems)
	}
	fresh := true
	for _, it := range items {
		kind := it.Get("type").String()
		if kind == "function_call_output" {
			fresh = true
			continue
		}
		if fresh {
			all, fresh = append(all, Reply{}), false
		}
		s := &all[len(all)-1]
		switch kind {
		case "reasoning":
			s.Think += model.JoinText(it.Get("content")) + model.JoinText(it.Get("summary"))
		case "message":
			s.Text += model.JoinText(it.Get("content"))
		case "function_call":
			arguments := it.Get("arguments")
			text := arguments.Raw
			if arguments.Type == gjson.String {
				text = arguments.Str
			}
			s.Calls = append(s.Calls, model.Call{ID: it.Get("call_id").String(), Type: "function", Function: model.Function{Name: it.Get("name").String(), Arguments: text}})
		}
	}
	return all, nil
}
