package convert

import (
	"maps"
	"reflect"
)

// responses is the trace as NeMo-Gym writes a rollout: a request of the Responses
// API, what came of it, and the reward. Items know no turns: one of nothing but calls
// behind another is lost in it.
func (w *writer) responses() map[string]any {
	chat := w.openAI()
	request, output, before := []any{}, []any{}, ""
	for _, m := range chat.Messages {
		to := &output
		if m.Role != "assistant" && len(output) == 0 {
			to = &request
		}
		w.loses(LossTurns, before == m.Role && m.Role == "assistant" && m.Content+m.Reasoning == "")
		before = m.Role
		*to = append(*to, items(m)...)
	}
	return filled(map[string]any{
		"eval_run_id": chat.RunID, "problem_id": chat.ProblemID, "reward": chat.Reward,
		"responses_create_params": filled(map[string]any{"input": request, "tools": chat.Tools}),
		"response":                filled(map[string]any{"object": "response", "model": chat.Model, "output": output}),
	})
}

// filled is an object without the members that have no value.
func filled(o map[string]any) map[string]any {
	maps.DeleteFunc(o, func(_ string, v any) bool { return reflect.ValueOf(v).IsZero() })
	return o
}

func items(m messageOut) (all []any) {
	text := func(kind, text string) []any { return []any{map[string]any{"type": kind, "text": text}} }
	if m.Role == "tool" {
		return []any{map[string]any{"type": "function_call_output", "call_id": m.CallID, "output": m.Content}}
	}
	if m.Reasoning != "" {
		all = append(all, map[string]any{"type": "reasoning", "summary": []any{}, "content": text("reasoning_text", m.Reasoning)})
	}
	switch {
	case m.Role != "assistant":
		all = append(all, map[string]any{"type": "message", "role": m.Role, "content": m.Content})
	case m.Content != "" || len(m.Calls) == 0:
		all = append(all, map[string]any{"type": "message", "role": m.Role, "content": text("output_text", m.Content)})
	}
	for _, c := range m.Calls {
		all = append(all, map[string]any{"type": "function_call", "call_id": c.ID, "name": c.Function.Name, "arguments": c.Function.Arguments})
	}
	return all
}
