package convert

import (
	"cmp"
	"encoding/json"
	"math"

	"github.com/trajectory-arena/arena"
)

// inspectHead begins a log of inspect_ai that is one document; samples follow. It
// holds no clock: the time is that at which the steps of all traces begin.
const inspectHead = `{"version":2,"status":"success","eval":{"run_id":"arena","created":"2001-09-09T01:46:40+00:00","task":"arena","dataset":{},"model":"none/none","config":{}},"plan":{"name":"plan","steps":[]},"samples":[`

// inspect is the trace as a sample. The tools stand in its metadata: inspect_ai has
// them in the events of its own calls alone.
func (w *writer) inspect() map[string]any {
	t, chat, messages := w.t, w.openAI(), []any{}
	for _, m := range chat.Messages {
		messages = append(messages, w.sampleMessage(m))
	}
	out := map[string]any{
		"id": t.ID, "epoch": 1, "input": t.Query, "target": "", "messages": messages, "output": map[string]any{"model": t.Model},
		"metadata": filled(map[string]any{"eval_run_id": t.RunID, "problem_id": t.ProblemID, "tools": chat.Tools}),
	}
	if t.Declared != nil {
		out["scores"] = map[string]any{"reward": map[string]any{"value": *t.Declared}}
	}
	if !math.IsNaN(t.Seconds) {
		out["total_time"] = t.Seconds
	}
	if t.Error != nil {
		out["error"] = map[string]any{"message": cmp.Or(t.Error.Message, t.Error.Type), "traceback": "", "traceback_ansi": ""}
	}
	return out
}

func (w *writer) sampleMessage(m messageOut) map[string]any {
	var made []any
	for _, c := range m.Calls {
		arguments := arena.Raw(c.Function.Arguments)
		if arguments.Kind() != arena.Object || !json.Valid([]byte(arguments)) {
			w.loses(LossArguments, true)
			arguments = "{}"
		}
		made = append(made, map[string]any{"id": c.ID, "function": c.Function.Name, "arguments": json.RawMessage(arguments), "type": "function"})
	}
	out := filled(map[string]any{"role": m.Role, "tool_call_id": m.CallID, "function": m.Name, "tool_calls": made})
	out["content"] = m.Content
	if m.Reasoning != "" {
		parts := []any{map[string]any{"type": "reasoning", "reasoning": m.Reasoning}}
		if m.Content != "" {
			parts = append(parts, map[string]any{"type": "text", "text": m.Content})
		}
		out["content"] = parts
	}
	return out
}
