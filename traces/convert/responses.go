package convert

// responses converts the trace to a rollout of NeMo-Gym: a request of the Responses API, its
// response and the reward. In that API an agent message that has only calls cannot be
// distinguished from the agent message before it, which is recorded as a loss.
func (w *writer) responses() map[string]any {
	row := w.openAI()
	input := []any{}
	output := []any{}
	previousRole := ""
	for _, m := range row.Messages {
		w.addLossIf(LossTurns, continuesTurn(m, previousRole))
		previousRole = m.Role
		if m.Role != "assistant" && len(output) == 0 {
			input = append(input, responseItems(m)...)
		} else {
			output = append(output, responseItems(m)...)
		}
	}
	return withoutZeros(map[string]any{
		"eval_run_id":             row.RunID,
		"problem_id":              row.ProblemID,
		"reward":                  row.Reward,
		"responses_create_params": withoutZeros(map[string]any{"input": input, "tools": row.Tools}),
		"response":                withoutZeros(map[string]any{"object": "response", "model": row.Model, "output": output}),
	})
}

// continuesTurn reports whether a reader of the converted messages would join m to the agent's
// message before it, because m is the agent's too and has neither text nor reasoning.
func continuesTurn(m chatMessage, previousRole string) bool {
	return m.Role == "assistant" && previousRole == m.Role && m.Content+m.Reasoning == ""
}

// responseItems converts a message to items of the Responses API: one each for its reasoning,
// text and calls, or one for a tool result.
func responseItems(m chatMessage) []any {
	if m.Role == "tool" {
		return []any{map[string]any{"type": "function_call_output", "call_id": m.CallID, "output": m.Content}}
	}
	var items []any
	if m.Reasoning != "" {
		parts := textParts("reasoning_text", m.Reasoning)
		items = append(items, map[string]any{
			"type":    "reasoning",
			"summary": []any{},
			"content": parts,
		})
	}
	switch {
	case m.Role != "assistant":
		items = append(items, map[string]any{"type": "message", "role": m.Role, "content": m.Content})
	case m.Content != "" || len(m.Calls) == 0:
		parts := textParts("output_text", m.Content)
		items = append(items, map[string]any{"type": "message", "role": m.Role, "content": parts})
	}
	for _, c := range m.Calls {
		items = append(items, map[string]any{
			"type":      "function_call",
			"call_id":   c.ID,
			"name":      c.Function.Name,
			"arguments": c.Function.Arguments,
		})
	}
	return items
}

func textParts(kind, text string) []any {
	return []any{map[string]any{"type": kind, "text": text}}
}
