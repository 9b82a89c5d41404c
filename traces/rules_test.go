package traces

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/traces/convert"
	"github.com/trajectory-arena/arena/traces/formats"
)

// turn is a message of a conversation that a test writes in a format. A result has the role tool.
type turn struct {
	role, text string
	reasoning  any
	calls      []string // the ids of calls of f
	answers    string   // the id of the call that a result answers
}

// chat is a conversation as messages of OpenAI's API.
func chat(turns []turn) []map[string]any {
	var messages []map[string]any
	for _, t := range turns {
		message := map[string]any{"role": t.role, "content": t.text}
		if t.reasoning != nil {
			message["reasoning_content"] = t.reasoning
		}
		var calls []any
		for _, id := range t.calls {
			calls = append(calls, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "f", "arguments": "{}"}})
		}
		if calls != nil {
			message["tool_calls"] = calls
		}
		if t.answers != "" {
			message["tool_call_id"] = t.answers
		}
		messages = append(messages, message)
	}
	return messages
}

// anthropicParts are the parts of a message in Anthropic's API and in Pi, whose parts have other names.
func anthropicParts(t turn, call, arguments string) []any {
	var parts []any
	if text, ok := t.reasoning.(string); ok {
		parts = append(parts, map[string]any{"type": "thinking", "thinking": text})
	}
	if t.text != "" {
		parts = append(parts, map[string]any{"type": "text", "text": t.text})
	}
	for _, id := range t.calls {
		parts = append(parts, map[string]any{"type": call, "id": id, "name": "f", arguments: map[string]any{}})
	}
	return parts
}

func jsonLines(values ...any) string {
	var out strings.Builder
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		out.Write(append(text, '\n'))
	}
	return out.String()
}

type m = map[string]any

// ruledFormats write a conversation in each format. They return "" for one that the format has no
// place for, such as a result that names no call.
var ruledFormats = map[string]func(turns []turn) string{
	"openai":    func(turns []turn) string { return jsonLines(m{"id": "p", "messages": chat(turns)}) },
	"swe_agent": func(turns []turn) string { return jsonLines(m{"history": chat(turns), "info": m{}}) },
	"inspect": func(turns []turn) string {
		return jsonLines(m{"version": 2, "status": "success", "eval": m{"run_id": "r"}, "samples": []any{m{"id": 1, "epoch": 1, "messages": chat(turns)}}})
	},
	"tau2": func(turns []turn) string {
		return jsonLines(m{"id": "u", "task_id": "0", "reward_info": m{}, "messages": chat(turns)})
	},
	"tau_bench": func(turns []turn) string {
		return jsonLines(m{"task_id": 1, "reward": 1.0, "info": m{"task": m{"instruction": "i"}}, "traj": chat(turns)})
	},
	"exchange": func(turns []turn) string {
		return jsonLines(m{"request": m{"messages": chat(turns)}, "response": m{"model": "m"}})
	},
	"verifiers": func(turns []turn) string {
		messages := chat(turns)
		return jsonLines(m{"prompt": messages[:1], "completion": messages[1:]})
	},
	"verifiers_episode": func(turns []turn) string {
		var nodes []any
		for i, message := range chat(turns) {
			node := m{"message": message, "sampled": message["role"] == "assistant"}
			if i > 0 {
				node["parent"] = i - 1
			}
			nodes = append(nodes, node)
		}
		return jsonLines(m{"id": "e", "env": m{"id": "x"}, "task": m{"type": "T"}, "traces": []any{m{"id": "t", "nodes": nodes}}})
	},
	"spans": func(turns []turn) string {
		return jsonLines([]any{m{"id": "o", "traceId": "t", "type": "GENERATION", "startTime": "t", "input": m{"messages": chat(turns)}}})
	},
	"sharegpt": func(turns []turn) string {
		var list []any
		for _, t := range turns {
			sender := map[string]string{"user": "human", "assistant": "gpt", "tool": "observation"}[t.role]
			value := t.text
			if t.reasoning != nil || len(t.calls) > 1 && t.calls[0] == t.calls[1] {
				return ""
			}
			if t.calls != nil {
				sender = "function_call"
				value = "[" + strings.Repeat(`{"name":"f","arguments":{}},`, len(t.calls)-1) + `{"name":"f","arguments":{}}]`
			}
			list = append(list, m{"from": sender, "value": value})
		}
		return jsonLines(m{"id": "p", "conversations": list})
	},
	"atif": func(turns []turn) string {
		var steps []m
		for _, t := range turns {
			if t.role == "tool" {
				result := m{"content": t.text}
				if t.answers != "" {
					result["source_call_id"] = t.answers
				}
				last := steps[len(steps)-1]
				results, _ := last["observation"].(m)
				list, _ := results["results"].([]any)
				last["observation"] = m{"results": append(list, result)}
				continue
			}
			step := m{"source": map[string]string{"user": "user", "assistant": "agent"}[t.role], "message": t.text}
			if t.reasoning != nil {
				step["reasoning_content"] = t.reasoning
			}
			var calls []any
			for _, id := range t.calls {
				calls = append(calls, m{"tool_call_id": id, "function_name": "f", "arguments": m{}})
			}
			step["tool_calls"] = calls
			steps = append(steps, step)
		}
		return jsonLines(m{"schema_version": "ATIF-v1.7", "session_id": "s", "agent": m{"name": "a", "version": "1"}, "steps": steps})
	},
	"claude_code": func(turns []turn) string {
		var lines []any
		for _, t := range turns {
			message := m{"role": t.role, "content": anthropicParts(t, "tool_use", "input")}
			if t.role == "tool" {
				if t.answers == "" {
					return ""
				}
				message = m{"role": "user", "content": []any{m{"type": "tool_result", "tool_use_id": t.answers, "content": t.text}}}
			}
			lines = append(lines, m{"sessionId": "s", "type": t.role, "message": message})
		}
		return jsonLines(lines...)
	},
	"pi": func(turns []turn) string {
		lines := []any{m{"type": "session", "version": 3, "id": "s", "cwd": "/x"}}
		for _, t := range turns {
			message := m{"role": t.role, "content": anthropicParts(t, "toolCall", "arguments")}
			if t.role == "tool" {
				message = m{"role": "toolResult", "content": []any{m{"type": "text", "text": t.text}}}
				if t.answers != "" {
					message["toolCallId"] = t.answers
				}
			}
			lines = append(lines, m{"type": "message", "message": message})
		}
		return jsonLines(lines...)
	},
	"sts": func(turns []turn) string {
		lines := []any{m{"type": "session", "harness": "h", "id": "s"}}
		for _, message := range chat(turns) {
			lines = append(lines, m{"type": "message", "message": message})
		}
		return jsonLines(lines...)
	},
	"codex": func(turns []turn) string {
		lines := []any{m{"type": "session_meta", "payload": m{"id": "s"}}}
		item := func(payload m) { lines = append(lines, m{"type": "response_item", "payload": payload}) }
		for _, t := range turns {
			if t.role == "tool" {
				item(m{"type": "function_call_output", "call_id": t.answers, "output": t.text})
				continue
			}
			if t.reasoning != nil {
				item(m{"type": "reasoning", "summary": []any{}, "content": []any{m{"type": "reasoning_text", "text": "r"}}})
			}
			if t.text != "" {
				item(m{"type": "message", "role": t.role, "content": []any{m{"type": "output_text", "text": t.text}}})
			}
			for _, id := range t.calls {
				item(m{"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"})
			}
		}
		return jsonLines(lines...)
	},
	"openhands": func(turns []turn) string {
		var lines []any
		event := func(kind string, more m) {
			e := m{"kind": kind, "id": "e", "timestamp": "t", "source": "agent"}
			maps.Copy(e, more)
			lines = append(lines, e)
		}
		for i, t := range turns {
			thought := []any{m{"type": "text", "text": t.text}}
			switch {
			case t.role == "tool":
				event("ObservationEvent", m{"tool_call_id": t.answers, "observation": m{"content": thought}})
			case t.calls == nil:
				event("MessageEvent", m{"llm_message": m{"role": t.role, "content": thought, "reasoning_content": t.reasoning}})
			}
			for j, id := range t.calls {
				if j > 0 {
					thought = nil
				}
				event("ActionEvent", m{"thought": thought, "llm_response_id": string(rune('a' + i)), "tool_call": m{"id": id, "name": "f", "arguments": "{}"}})
			}
		}
		return jsonLines(lines...)
	},
	"gemini_cli": func(turns []turn) string {
		lines := []any{m{"sessionId": "s", "projectHash": "h"}}
		for i, t := range turns {
			kind := map[string]string{"user": "user", "assistant": "gemini"}[t.role]
			if kind == "" || t.calls != nil || t.reasoning != nil {
				return "" // its calls hold their results, and its thoughts are a list of their own
			}
			lines = append(lines, m{"id": string(rune('a' + i)), "timestamp": "t", "type": kind, "content": t.text})
		}
		return jsonLines(lines...)
	},
	"opencode": func(turns []turn) string {
		var list []any
		for i, t := range turns {
			if t.role == "tool" || t.calls != nil || t.reasoning != nil {
				return "" // its calls hold their results, and its reasoning is a part
			}
			list = append(list, m{"info": m{"id": string(rune('a' + i)), "role": t.role}, "parts": []any{m{"type": "text", "text": t.text}}})
		}
		return jsonLines(m{"info": m{"id": "s"}, "messages": list})
	},
}

// TestRulesOfEveryReader holds that all readers follow the same rules. Each rule is a row below the
// readers, and each format either has the same conversation or has no place for the subject of the
// rule.
func TestRulesOfEveryReader(t *testing.T) {
	t.Parallel()
	user := turn{role: "user", text: "u"}
	done := turn{role: "assistant", text: "done"}
	for name, rule := range map[string]struct {
		turns []turn
		want  string
		lost  string
		// formats is the number of formats that have a place for it.
		formats int
	}{
		"a greeting that no request led to": {
			turns: []turn{{role: "assistant", text: "Hello!"}, user, done},
			want:  "user u|assistant done", lost: "greeting", formats: 18,
		},
		"thinking whose opening tag is in the prompt": {
			turns: []turn{user, {role: "assistant", text: "hm</think>\n\na"}},
			want:  "user u|assistant (hm) a", formats: 18,
		},
		"one screen for a batch of commands": {
			turns: []turn{user, {role: "assistant", calls: []string{"1", "2"}}, {role: "tool", text: "screen"}, done},
			want:  "user u|assistant 1 2|tool 1 |tool 2 screen|assistant done", lost: "shared_result", formats: 15,
		},
		"a result for each of two calls, without ids": {
			turns: []turn{user, {role: "assistant", calls: []string{"1", "2"}}, {role: "tool", text: "a"}, {role: "tool", text: "b"}, done},
			want:  "user u|assistant 1 2|tool 1 a|tool 2 b|assistant done", formats: 15,
		},
		"ids that restart in each turn": {
			turns: []turn{
				user, {role: "assistant", calls: []string{"1"}}, {role: "tool", text: "a", answers: "1"},
				{role: "assistant", calls: []string{"1"}}, {role: "tool", text: "b", answers: "1"}, done,
			},
			want: "user u|assistant 1|tool 1 a|assistant 1|tool 1 b|assistant done", formats: 16,
		},
		"one id for two calls of a turn": {
			turns: []turn{
				user, {role: "assistant", calls: []string{"1", "1"}}, {role: "tool", text: "a", answers: "1"},
				{role: "tool", text: "b", answers: "1"}, done,
			},
			want: "user u|assistant 1 -|tool 1 a|tool - b|assistant done", formats: 15,
		},
		"reasoning in a list": {
			turns: []turn{user, {role: "assistant", text: "a", reasoning: []any{m{"type": "text", "text": "r"}, m{"type": "summary", "summary": "s"}, m{"type": "encrypted", "data": "A"}}}},
			want:  "user u|assistant (r\ns) a", lost: "hidden_reasoning", formats: 12,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored := 0
			for format, write := range ruledFormats {
				text := write(rule.turns)
				if rule.turns[1].reasoning != nil && slices.Contains([]string{"claude_code", "pi", "codex"}, format) {
					continue // each part is a list of its own
				}
				if text == "" {
					continue
				}
				stored++
				got, lost := conversationOf(t, format, text)
				isLossRight := format != "openai" || len(lost) == 0
				if rule.lost != "" {
					isLossRight = slices.Contains(lost, rule.lost)
				}
				if got != rule.want || !isLossRight {
					t.Errorf("%s: %q, lost %q, want %q and %q\n%s", format, got, lost, rule.want, rule.lost, text)
				}
			}
			if stored != rule.formats {
				t.Errorf("%d formats hold the rule, want %d", stored, rule.formats)
			}
		})
	}
	for _, f := range formats.Detectable {
		if ruledFormats[string(f.Name)] == nil {
			t.Errorf("no rule covers %s", f.Name)
		}
	}
}

// conversationOf returns the messages of the single attempt of a text as text, with the ids of
// calls, "-" for an id that the writer made. Formats without ids have those of the order of their
// calls.
func conversationOf(t *testing.T, format, text string) (words string, lost []string) {
	t.Helper()
	attempts, faults := readTextWith(t, "x.jsonl", text, named())
	if len(attempts) != 1 || len(faults) > 0 || string(attempts[0].Source.Shape) != format {
		t.Errorf("%s: %d attempts, faults %+v of %s", format, len(attempts), faults, text)
		return "", nil
	}
	row, _, err := convert.Write(attempts[0], convert.OpenAI)
	if err != nil {
		t.Fatal(err)
	}
	name := func(id string) string {
		if !strings.HasPrefix(id, "call-") {
			return id
		}
		if format != "sharegpt" {
			return "-"
		}
		return id[strings.LastIndex(id, "-")+1:]
	}
	var messages []string
	for _, message := range gjson.GetBytes(row, "messages").Array() {
		word := message.Get("role").Str
		if reasoning := message.Get("reasoning_content").Str; reasoning != "" {
			word += " (" + reasoning + ")"
		}
		if message.Get("role").Str == "tool" {
			word += " " + name(message.Get("tool_call_id").Str)
		}
		if content := message.Get("content").Str; content != "" || message.Get("role").Str == "tool" {
			word += " " + content
		}
		for _, id := range message.Get("tool_calls.#.id").Array() {
			word += " " + name(id.Str)
		}
		messages = append(messages, word)
	}
	return strings.Join(messages, "|"), attempts[0].Lost
}
