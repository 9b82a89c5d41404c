package convert

import (
	"cmp"
	"encoding/json"
	"math"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// inspectHead is the text of a log of inspect_ai before its first sample. Its creation time is
// constant, so that the same traces give the same bytes.
const inspectHead = `{"version":2,"status":"success","eval":{"run_id":"arena","created":"2001-09-09T01:46:40+00:00","task":"arena","dataset":{},"model":"none/none","config":{}},"plan":{"name":"plan","steps":[]},"samples":[`

// inspect converts the trace to a sample of inspect_ai. The metadata has the tool definitions,
// because inspect_ai records tools only in the events of its own model calls.
func (w *writer) inspect() map[string]any {
	t := w.t
	row := w.openAI()
	metadata := map[string]any{"eval_run_id": t.RunID, "problem_id": t.ProblemID, "tools": row.Tools}
	sample := map[string]any{
		"id":       t.ID,
		"epoch":    1,
		"input":    t.Query,
		"target":   "",
		"messages": slicesx.Map(row.Messages, w.inspectMessage),
		"output":   map[string]any{"model": t.Model},
		"metadata": withoutZeros(metadata),
	}
	if t.Declared != nil {
		sample["scores"] = map[string]any{"reward": map[string]any{"value": *t.Declared}}
	}
	if !math.IsNaN(t.Seconds) {
		sample["total_time"] = t.Seconds
	}
	if t.Error != nil {
		message := cmp.Or(t.Error.Message, t.Error.Type)
		sample["error"] = map[string]any{"message": message, "traceback": "", "traceback_ansi": ""}
	}
	return sample
}

func (w *writer) inspectMessage(m chatMessage) map[string]any {
	var calls []any
	for _, c := range m.Calls {
		calls = append(calls, map[string]any{
			"id":        c.ID,
			"function":  c.Function.Name,
			"arguments": w.argumentObject(c),
			"type":      "function",
		})
	}
	out := withoutZeros(map[string]any{
		"role":         m.Role,
		"tool_call_id": m.CallID,
		"function":     m.Name,
		"tool_calls":   calls,
	})
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

// argumentObject returns the arguments of a call for a format in which they must be a JSON
// object. It replaces other arguments by {} and records the loss.
func (w *writer) argumentObject(c chatCall) json.RawMessage {
	arguments, ok := objectJSON(c.Function.Arguments)
	w.addLossIf(LossArguments, !ok)
	return arguments
}
