package traces

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/traces/convert"
)

// units are the nine marked texts of a conversation, generated from a seed, with their names.
type units struct{ system, user, thought, text, argument, result, answer, next, last string }

func newUnits(seed uint64) units {
	r := rand.New(rand.NewPCG(seed, 45))
	word := func(kind string) string { return fmt.Sprintf("%s-%08x é %d", kind, r.Uint32(), r.IntN(1000)) }
	return units{word("system"), word("user"), word("thought"), word("text"), word("argument"), word("result"), word("answer"), word("next"), word("last")}
}

func (u *units) list() []string {
	return []string{u.system, u.user, u.thought, u.text, u.argument, u.result, u.answer, u.next, u.last}
}

func (u *units) arguments() string { return jsonText(m{"q": u.argument}) }

func jsonText(v any) string { return strings.TrimSuffix(jsonLines(v), "\n") }

// chat returns the conversation as messages of OpenAI's API, in which the agent's first message is first.
func (u *units) chat(first m) []any {
	return []any{
		m{"role": "system", "content": u.system}, m{"role": "user", "content": u.user}, first,
		m{"role": "tool", "tool_call_id": "c1", "content": u.result}, m{"role": "assistant", "content": u.answer},
		m{"role": "user", "content": u.next}, m{"role": "assistant", "content": u.last},
	}
}

// dialects are ways in which tools write the agent's message with a thought, a text and a call.
var dialects = map[string]func(u *units) []any{
	"reasoning_content": func(u *units) []any { return u.chat(u.called(m{"reasoning_content": u.thought})) },
	"reasoning":         func(u *units) []any { return u.chat(u.called(m{"reasoning": u.thought})) },
	"reasoning_details": func(u *units) []any {
		return u.chat(u.called(m{"reasoning_details": []any{m{"type": "reasoning.text", "text": u.thought}}}))
	},
	"think tags": func(u *units) []any {
		return u.chat(u.called(m{"content": "<think>" + u.thought + "</think>" + u.text}))
	},
	"lone thinking": func(u *units) []any { return u.chat(u.called(m{"content": u.thought + "</think>" + u.text})) },
	"parts": func(u *units) []any {
		return u.chat(u.called(m{"reasoning_content": u.thought, "content": []any{m{"type": "text", "text": u.text}}}))
	},
	"arguments as an object": func(u *units) []any {
		call := m{"id": "c1", "type": "function", "function": m{"name": "f", "arguments": m{"q": u.argument}}}
		return u.chat(m{"role": "assistant", "content": u.text, "reasoning_content": u.thought, "tool_calls": []any{call}})
	},
	"harmony": func(u *units) []any {
		return u.chat(m{"role": "assistant", "content": "<|channel|>analysis<|message|>" + u.thought + "<|end|><|start|>assistant<|channel|>commentary<|message|>" + u.text +
			"<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>" + u.arguments() + "<|call|>"})
	},
}

// called returns the agent's first message with a call and with other members.
func (u *units) called(more m) m {
	message := m{"role": "assistant", "content": u.text, "tool_calls": []any{m{"id": "c1", "type": "function", "function": m{"name": "f", "arguments": u.arguments()}}}}
	maps.Copy(message, more)
	return message
}

// wrappers are ways in which tools write a list of messages.
var wrappers = map[string]func(messages []any) string{
	"row":       func(turns []any) string { return jsonLines(m{"id": "p", "messages": turns}) },
	"bare list": func(turns []any) string { return jsonLines(turns) },
	"key of its own": func(turns []any) string {
		return jsonLines(m{"conversation_hash": "h", "conversation": turns, "toxic": false})
	},
	"list of rows": func(turns []any) string { return jsonLines([]any{m{"messages": turns}}) },
	"text":         func(turns []any) string { return jsonLines(m{"id": "p", "messages": jsonText(turns)}) },
	"trajectory":   func(turns []any) string { return jsonLines(m{"instance_id": "i", "trajectory": turns, "resolved": 1}) },
	"tau-bench": func(turns []any) string {
		return jsonLines(m{"task_id": 1, "reward": 1.0, "info": m{"task": m{"instruction": "i"}}, "traj": turns})
	},
	"completion": func(turns []any) string {
		return jsonLines(m{"prompt": turns[:2], "completion": turns[2:], "reward": 1})
	},
	"inspect": func(turns []any) string {
		return jsonLines(m{"version": 2, "eval": m{"run_id": "r"}, "samples": []any{m{"id": 1, "epoch": 1, "messages": turns}}})
	},
	"history": func(turns []any) string { return jsonLines(m{"history": turns, "info": m{}}) },
	"proxy": func(turns []any) string {
		return jsonLines(m{"request": m{"messages": turns[:6]}, "response": reply(turns[6])})
	},
	"body": func(turns []any) string {
		return jsonLines(m{"request": m{"method": "POST", "body": m{"messages": turns[:6]}}, "response": m{"status": 200, "body": reply(turns[6])}})
	},
	"langfuse": func(turns []any) string {
		return jsonLines([]any{m{"id": "o", "traceId": "t", "type": "GENERATION", "startTime": "t", "input": turns[:6], "output": turns[6]}})
	},
	"langsmith": func(turns []any) string {
		return jsonLines(m{"id": "r", "trace_id": "t", "run_type": "llm", "inputs": m{"messages": turns[:6]}, "outputs": reply(turns[6])})
	},
	"mlflow": func(turns []any) string {
		attributes := m{"mlflow.spanInputs": jsonText(m{"messages": turns[:6]}), "mlflow.spanOutputs": jsonText(reply(turns[6]))}
		return jsonLines(m{"info": m{"trace_id": "t"}, "data": m{"spans": []any{m{"trace_id": "t", "span_id": "1", "attributes": attributes}}}})
	},
}

func reply(message any) m {
	return m{"object": "chat.completion", "model": "m", "choices": []any{m{"index": 0, "finish_reason": "stop", "message": message}}}
}

// ownShapes are formats that have parts of their own.
var ownShapes = map[string]func(u *units) string{
	"atif": func(u *units) string {
		return jsonLines(m{"schema_version": "ATIF-v1.7", "session_id": "s", "agent": m{"name": "a", "version": "1"}, "steps": []any{
			m{"source": "system", "message": u.system}, m{"source": "user", "message": u.user},
			m{
				"source": "agent", "message": u.text, "reasoning_content": u.thought,
				"tool_calls":  []any{m{"tool_call_id": "c1", "function_name": "f", "arguments": m{"q": u.argument}}},
				"observation": m{"results": []any{m{"source_call_id": "c1", "content": u.result}}},
			},
			m{"source": "agent", "message": u.answer}, m{"source": "user", "message": u.next}, m{"source": "agent", "message": u.last},
		}})
	},
	"anthropic": func(u *units) string {
		return jsonLines(m{"model": "m", "system": u.system, "messages": u.anthropic()})
	},
	"anthropic's batch": func(u *units) string {
		turns := u.anthropic()
		return jsonLines(m{
			"custom_id": "a", "params": m{"model": "m", "system": u.system, "messages": turns[:5]},
			"result": m{"type": "succeeded", "message": m{"type": "message", "role": "assistant", "content": turns[5].(m)["content"]}},
		})
	},
	"bedrock": func(u *units) string {
		text := func(text string) m { return m{"text": text} }
		message := func(role string, parts ...any) m { return m{"role": role, "content": parts} }
		call := m{"toolUse": m{"toolUseId": "c1", "name": "f", "input": m{"q": u.argument}}}
		return jsonLines(m{"modelId": "m", "system": []any{text(u.system)}, "messages": []any{
			message("user", text(u.user)),
			message("assistant", m{"reasoningContent": m{"reasoningText": text(u.thought)}}, text(u.text), call),
			message("user", m{"toolResult": m{"toolUseId": "c1", "content": []any{text(u.result)}}}),
			message("assistant", text(u.answer)), message("user", text(u.next)), message("assistant", text(u.last)),
		}})
	},
	"vercel's parts": func(u *units) string {
		text := func(text string) m { return m{"type": "text", "text": text} }
		message := func(role string, parts ...any) m { return m{"id": role, "role": role, "parts": parts} }
		tool := m{"type": "tool-f", "toolCallId": "c1", "state": "output-available", "input": m{"q": u.argument}, "output": u.result}
		return jsonLines(m{"id": "p", "messages": []any{
			message("system", text(u.system)), message("user", text(u.user)), message("assistant", m{"type": "reasoning", "text": u.thought}, text(u.text), tool, text(u.answer)),
			message("user", text(u.next)), message("assistant", text(u.last)),
		}})
	},
	"one prompt with ### Instruction": func(u *units) string {
		prompt := u.system + "\n\n### Instruction:\n" + u.user + "\n\n### Response:\n" + u.text
		return jsonLines(m{"6": m{"reward": true, "traj": prompt}, "7": m{"reward": false, "traj": prompt}})
	},
	"an export of ChatGPT": func(u *units) string {
		return jsonLines(m{"title": u.user, "current_node": "a", "mapping": m{"a": m{"message": m{"author": m{"role": "user"}, "content": m{"parts": []any{u.user}}}}}})
	},
	"an export of Claude's site": func(u *units) string {
		return jsonLines(m{"uuid": "u", "chat_messages": []any{m{"sender": "human", "text": u.user}}})
	},
	"rows of prompts and answers": func(u *units) string {
		return jsonLines(m{"instruction": u.user, "input": u.next, "output": u.answer})
	},
	"claude code": func(u *units) string {
		lines := []any{m{"type": "system", "sessionId": "s", "uuid": "0", "parentUuid": nil, "message": m{"role": "system", "content": u.system}}}
		for i, message := range u.anthropic() {
			lines = append(lines, m{"type": message.(m)["role"], "sessionId": "s", "uuid": fmt.Sprint(i + 1), "parentUuid": fmt.Sprint(i), "message": message})
		}
		return jsonLines(lines...)
	},
	"pi": func(u *units) string {
		lines := []any{m{"type": "session", "id": "s", "cwd": "/"}, m{"type": "message", "message": m{"role": "system", "content": u.system}}}
		for _, message := range u.anthropic() {
			text := jsonText(message)
			for old, new := range map[string]string{"tool_use_id": "toolCallId", "tool_use": "toolCall", `"input"`: `"arguments"`} {
				text = strings.ReplaceAll(text, old, new)
			}
			if strings.Contains(text, "tool_result") {
				text = jsonText(m{"role": "toolResult", "toolCallId": "c1", "content": []any{m{"type": "text", "text": u.result}}})
			}
			lines = append(lines, m{"type": "message", "message": json.RawMessage(text)})
		}
		return jsonLines(lines...)
	},
	"codex": func(u *units) string {
		lines := []any{m{"type": "session_meta", "payload": m{"id": "s", "base_instructions": m{"text": u.system}}}}
		for _, item := range u.items() {
			lines = append(lines, m{"type": "response_item", "payload": item})
		}
		return jsonLines(lines...)
	},
	"items": func(u *units) string {
		return jsonLines(append([]any{m{"type": "message", "role": "system", "content": u.system}}, u.items()...))
	},
	"a response with its request": func(u *units) string {
		return jsonLines(m{"responses_create_params": m{"input": []any{m{"role": "system", "content": u.system}, u.items()[0]}}, "response": m{"object": "response", "output": u.items()[1:]}})
	},
	"gemini": func(u *units) string {
		part := func(role string, parts ...any) m { return m{"role": role, "parts": parts} }
		return jsonLines(m{"systemInstruction": m{"parts": []any{m{"text": u.system}}}, "contents": []any{
			part("user", m{"text": u.user}),
			part("model", m{"text": u.thought, "thought": true}, m{"text": u.text}, m{"functionCall": m{"name": "f", "args": m{"q": u.argument}}}),
			part("user", m{"functionResponse": m{"name": "f", "response": m{"output": u.result}}}),
			part("model", m{"text": u.answer}), part("user", m{"text": u.next}), part("model", m{"text": u.last}),
		}})
	},
	"gemini cli": func(u *units) string {
		line := func(id, kind, text string) m { return m{"id": id, "timestamp": "t", "type": kind, "content": text} }
		called := line("2", "gemini", u.text)
		called["thoughts"] = []any{m{"subject": "s", "description": u.thought}}
		called["toolCalls"] = []any{m{"id": "c1", "name": "f", "args": m{"q": u.argument}, "result": []any{m{"functionResponse": m{"id": "c1", "name": "f", "response": m{"output": u.result}}}}}}
		context := line("0", "user", "<session_context>"+u.system)
		return jsonLines(m{"sessionId": "s", "projectHash": "h"}, context, line("1", "user", u.user), called, line("3", "gemini", u.answer), line("4", "user", u.next), line("5", "gemini", u.last))
	},
	"opencode": func(u *units) string {
		message := func(id, role string, parts ...any) m { return m{"info": m{"id": id, "role": role}, "parts": parts} }
		part := func(kind, text string) m { return m{"type": kind, "text": text} }
		tool := m{"type": "tool", "callID": "c1", "tool": "f", "state": m{"status": "completed", "input": m{"q": u.argument}, "output": u.result}}
		return jsonLines(m{"info": m{"id": "s"}, "messages": []any{
			message("1", "user", part("text", u.system), part("text", u.user)), message("2", "assistant", part("reasoning", u.thought), part("text", u.text), tool),
			message("3", "assistant", part("text", u.answer)), message("4", "user", part("text", u.next)), message("5", "assistant", part("text", u.last)),
		}})
	},
	"sharegpt": func(u *units) string {
		turn := func(sender, value string) m { return m{"from": sender, "value": value} }
		return jsonLines(m{"id": "p", "system": u.system, "conversations": []any{
			turn("human", u.user), turn("function_call", "<think>"+u.thought+"</think>\n"+u.text+"\n"+jsonText(m{"name": "f", "arguments": m{"q": u.argument}})),
			turn("observation", u.result), turn("gpt", u.answer), turn("human", u.next), turn("gpt", u.last),
		}})
	},
	"a tape of messages, one a line": func(u *units) string { return jsonLines(dialects["reasoning_content"](u)...) },
}

// anthropic returns the conversation without its system prompt as messages of Anthropic's API.
func (u *units) anthropic() []any {
	return []any{
		m{"role": "user", "content": u.user},
		m{"role": "assistant", "content": []any{
			m{"type": "thinking", "thinking": u.thought}, m{"type": "text", "text": u.text}, m{"type": "tool_use", "id": "c1", "name": "f", "input": m{"q": u.argument}},
		}},
		m{"role": "user", "content": []any{m{"type": "tool_result", "tool_use_id": "c1", "content": u.result}}},
		m{"role": "assistant", "content": []any{m{"type": "text", "text": u.answer}}},
		m{"role": "user", "content": []any{m{"type": "text", "text": u.next}}},
		m{"role": "assistant", "content": []any{m{"type": "text", "text": u.last}}},
	}
}

// items returns the conversation without its system prompt as items of the Responses API.
func (u *units) items() []any {
	message := func(role, text string) m {
		return m{"type": "message", "role": role, "content": []any{m{"type": "output_text", "text": text}}}
	}
	return []any{
		message("user", u.user), m{"type": "reasoning", "summary": []any{m{"type": "summary_text", "text": u.thought}}}, message("assistant", u.text),
		m{"type": "function_call", "call_id": "c1", "name": "f", "arguments": u.arguments()}, m{"type": "function_call_output", "call_id": "c1", "output": u.result},
		message("assistant", u.answer), message("user", u.next), message("assistant", u.last),
	}
}

// TestShapesOfOneConversation writes a conversation of nine marked texts in every shape that tools
// use: nine of ten shapes are read completely, no text is lost silently, and a refused shape has a
// hint.
func TestShapesOfOneConversation(t *testing.T) {
	t.Parallel()
	shapes := map[string]func(u *units) string{}
	maps.Copy(shapes, ownShapes)
	for wrapper, wrap := range wrappers {
		for dialect, write := range dialects {
			shapes[wrapper+", "+dialect] = func(u *units) string { return wrap(write(u)) }
		}
	}
	complete := 0
	partial := 0
	refused := 0
	for seed, name := range slices.Sorted(maps.Keys(shapes)) {
		u := newUnits(uint64(seed))
		text := shapes[name](&u)
		attempts, faults := readTextWith(t, "x.json", text, named())
		if len(attempts) != 1 {
			refused++
			if len(faults) == 0 || !strings.Contains(faults[0].Detail, "looks like") {
				t.Errorf("%s: %d attempts, faults %+v", name, len(attempts), faults)
			}
			continue
		}
		row, _, err := convert.Write(attempts[0], convert.OpenAI)
		if err != nil {
			t.Fatal(err)
		}
		missing := slices.DeleteFunc(u.list(), func(unit string) bool { return strings.Contains(string(row), unit) })
		isWord := func(word string) bool { return word != "metadata" }
		switch {
		case len(missing) == 0 && len(attempts[0].Vetoes) == 0:
			complete++
		case slices.ContainsFunc(attempts[0].Lost, isWord) || len(attempts[0].Vetoes) > 0:
			partial++
			t.Logf("%s: lost %q, vetoes %q, without %q", name, attempts[0].Lost, attempts[0].Vetoes, missing)
		default:
			t.Errorf("%s: silent without %q\n%s", name, missing, row)
		}
	}
	t.Logf("%d shapes: %d whole, %d with a word, %d refused with a guess", len(shapes), complete, partial, refused)
	if complete*10 < len(shapes)*9 {
		t.Errorf("%d of %d shapes are read completely", complete, len(shapes))
	}
}
