package outcome

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// sourceStep is the step as the sandbox wrote it. A trace of another shape has
// no such text; its steps are rendered as the sandbox would have recorded them.
func sourceStep(s *arena.Step) gjson.Result {
	if s.Raw != "" {
		return gjson.Parse(string(s.Raw))
	}
	message := map[string]any{"think": first(s.Think, s.Reasoning), "response": first(s.Response, s.Content)}
	if len(s.Calls) > 0 {
		calls := make([]map[string]any, len(s.Calls))
		for i, c := range s.Calls {
			calls[i] = map[string]any{"name": c.Name, "parameters": arguments(c.Arguments)}
		}
		message["tool_call"] = calls
	}
	step := map[string]any{"completion": map[string]any{"message": message}}
	if s.Timestamp.Kind() != arena.Absent {
		step["extra_info"] = map[string]any{"timestamp": json.RawMessage(s.Timestamp)}
	}
	text, err := json.Marshal(step)
	if err != nil {
		return gjson.Result{}
	}
	return gjson.ParseBytes(text)
}

// arguments are an object, or a string that holds one as JSON.
func arguments(raw arena.Raw) json.RawMessage {
	text := string(raw)
	if raw.Kind() == arena.String {
		text = gjson.Parse(text).Str
	}
	if !gjson.Valid(text) {
		return json.RawMessage("null")
	}
	return json.RawMessage(text)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
