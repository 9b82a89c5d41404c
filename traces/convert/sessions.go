package convert

import "fmt"

// ownKeys returns the members that this project adds to the first line of a session for what a
// trace has besides its messages: ids, model, reward and tools. The programs that own the session
// formats ignore these members.
func ownKeys(row chatRow) map[string]any {
	return withoutZeros(map[string]any{
		"eval_run_id": row.RunID,
		"problem_id":  row.ProblemID,
		"model":       row.Model,
		"reward":      row.Reward,
		"tools":       row.Tools,
	})
}

// piSession converts the trace to the lines of a session of Pi: a header, and a line for each
// message.
func (w *writer) piSession() []any {
	w.keepsTimes = true
	w.hasObjects = true
	row := w.openAI()
	header := ownKeys(row)
	header["type"] = "session"
	header["version"] = 3
	header["id"] = w.t.ID
	header["cwd"] = "/"
	lines := []any{header}
	times := w.sessionTimes(row.Messages)
	for i, m := range row.Messages {
		message := withoutZeros(map[string]any{
			"role":       m.Role,
			"content":    w.parts(m, "toolCall", "arguments"),
			"toolCallId": m.CallID,
			"toolName":   m.Name,
			"timestamp":  times[i],
		})
		if m.Role == "tool" {
			message["role"] = "toolResult"
		}
		line := map[string]any{"type": "message", "id": lineID(i), "parentId": nil, "message": message}
		if i > 0 {
			line["parentId"] = lineID(i - 1)
		}
		lines = append(lines, line)
	}
	return lines
}

// claudeSession converts the trace to the lines of a session of Claude Code, one for each message.
func (w *writer) claudeSession() []any {
	w.hasObjects = true
	row := w.openAI()
	var lines []any
	for i, m := range row.Messages {
		message := map[string]any{"role": m.Role, "content": w.parts(m, "tool_use", "input")}
		switch m.Role {
		case "assistant":
			message["id"] = "msg-" + lineID(i)
			message["model"] = row.Model
		case "tool":
			message["role"] = "user"
			message["content"] = []any{map[string]any{"type": "tool_result", "tool_use_id": m.CallID, "content": m.Content}}
		}
		line := map[string]any{
			"type":       message["role"],
			"sessionId":  w.t.ID,
			"uuid":       w.t.ID + "-" + lineID(i),
			"parentUuid": nil,
			"message":    message,
		}
		if i == 0 {
			line["arena"] = ownKeys(row)
		} else {
			line["parentUuid"] = w.t.ID + "-" + lineID(i-1)
		}
		lines = append(lines, line)
	}
	return lines
}

// codexSession converts the trace to the lines of a session of Codex: a header, and a line for each
// item of the Responses API.
func (w *writer) codexSession() []any {
	row := w.openAI()
	lines := []any{codexLine("session_meta", map[string]any{
		"id":         w.t.ID,
		"cwd":        "/",
		"originator": "arena",
		"arena":      ownKeys(row),
	})}
	previousRole := ""
	for _, m := range row.Messages {
		w.addLossIf(LossTurns, continuesTurn(m, previousRole))
		previousRole = m.Role
		for _, item := range responseItems(m) {
			lines = append(lines, codexLine("response_item", item))
		}
	}
	return lines
}

func codexLine(kind string, payload any) map[string]any {
	return map[string]any{"type": kind, "payload": payload}
}

// lineID returns the id of line i of a session, i with at least eight digits.
func lineID(i int) string { return fmt.Sprintf("%08d", i) }

// parts returns a message as a list of parts: its reasoning, its text and its calls. call is the
// name of the part type for a call, and arguments the key under which a call has its arguments, an
// object.
func (w *writer) parts(m chatMessage, call, arguments string) []any {
	parts := []any{}
	if m.Reasoning != "" {
		parts = append(parts, map[string]any{"type": "thinking", "thinking": m.Reasoning})
	}
	if m.Content != "" || len(m.Calls) == 0 {
		parts = append(parts, textParts("text", m.Content)...)
	}
	for _, c := range m.Calls {
		parts = append(parts, map[string]any{"type": call, "id": c.ID, "name": c.Function.Name, arguments: w.argumentObject(c)})
	}
	return parts
}
