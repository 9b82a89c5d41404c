package dialect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/filters/dialect"
)

func calls(names ...string) (out []dialect.Call) {
	for i := 0; i+1 < len(names); i += 2 {
		out = append(out, dialect.Call{Name: names[i], Arguments: dialectRaw(names[i+1])})
	}
	return out
}

func TestRead(t *testing.T) {
	t.Parallel()
	lamp := calls("find_product", `{"q": "lamp"}`)
	for name, c := range map[string]struct {
		text string
		want dialect.Reading
	}{
		"one list in a tag": {
			`<think>hm</think><tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}}]</tool_call><response>ok</response>`,
			dialect.Reading{Think: "hm", Text: "ok", Calls: lamp},
		},
		"several lists": {
			`<tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}}] [{"name": "terminate", "parameters": {}}]</tool_call>`,
			dialect.Reading{Calls: append(lamp, calls("terminate", "{}")...), Repairs: []string{dialect.RepairLists}},
		},
		"hermes objects": {
			"<think>a</think>\n\n<tool_call>\n{\"name\": \"find_product\", \"arguments\": {\"q\": \"lamp\"}}\n</tool_call>\n<tool_call>{\"name\": \"terminate\"}</tool_call>",
			dialect.Reading{Think: "a", Calls: append(lamp, calls("terminate", "{}")...), Repairs: []string{dialect.RepairHermes}},
		},
		"react lines": {
			"Thought: need a lamp\nAction: find_product\nAction Input: {\"q\": \"lamp\"}",
			dialect.Reading{Think: "need a lamp", Calls: lamp, Repairs: []string{dialect.RepairReAct}},
		},
		"react with stars, a fence and its observation": {
			"**Thought:** need\n**Action:** `find_product`\n**Action Input:** ```json\n{\"q\": \"lamp\"}\n```\nObservation: []\nFinal Answer: done",
			dialect.Reading{Think: "need", Text: "done", Calls: lamp, Results: []dialect.Result{{Content: "[]"}}, Repairs: []string{dialect.RepairReAct}},
		},
		"react call in one line": {
			`Action: find_product({"q": "lamp"})`,
			dialect.Reading{Calls: lamp, Repairs: []string{dialect.RepairReAct}},
		},
		"react after thinking in tags": {
			"<think>a</think>\nAction: find_product\nAction Input: {\"q\": \"lamp\"}",
			dialect.Reading{Think: "a", Calls: lamp, Repairs: []string{dialect.RepairReAct}},
		},
		"a harness's own keys": {
			`{"thought": "a", "tool": "find_product", "tool_input": {"q": "lamp"}}`,
			dialect.Reading{Calls: lamp, Repairs: []string{dialect.RepairBare}},
		},
		"arguments beside the name": {
			`{"thought": "a", "action": "find_product", "q": "lamp"}`,
			dialect.Reading{Calls: calls("find_product", `{"q":"lamp"}`), Repairs: []string{dialect.RepairBare}},
		},
		"a label is no call": {
			`{"action": "find_product", "thought": "a"}`,
			dialect.Reading{Text: `{"action": "find_product", "thought": "a"}`},
		},
		"fenced": {
			"First the lamp.\n```json\n[{\"name\": \"find_product\", \"parameters\": {\"q\": \"lamp\"}}]\n```",
			dialect.Reading{Text: "First the lamp.", Calls: lamp, Repairs: []string{dialect.RepairFence}},
		},
		"bare": {
			`{"name": "find_product", "arguments": {"q": "lamp"}}`,
			dialect.Reading{Calls: lamp, Repairs: []string{dialect.RepairBare}},
		},
		"native inside of text": {
			`[{"id": "c1", "type": "function", "function": {"name": "find_product", "arguments": "{\"q\": \"lamp\"}"}}]`,
			dialect.Reading{Calls: []dialect.Call{{ID: "c1", Name: "find_product", Arguments: `{"q": "lamp"}`}}, Repairs: []string{dialect.RepairFunctionNested, dialect.RepairArgumentsText, dialect.RepairBare}},
		},
		"call inside of thinking": {
			`<think>so <tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}}]</tool_call></think>`,
			dialect.Reading{Think: "so", Calls: lamp, Repairs: []string{dialect.RepairThinkCall}},
		},
		"call split by thinking": {
			`<tool_call>[{"name": "find_product", <think>which?</think> "parameters": {"q": "lamp"}}]</tool_call>`,
			dialect.Reading{Think: "which?", Calls: calls("find_product", `{"q": "lamp"}`), Repairs: []string{dialect.RepairSplit}},
		},
		"tag never closed": {
			`<think>a</think><tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}}]`,
			dialect.Reading{Think: "a", Calls: lamp, Repairs: []string{dialect.RepairTag}},
		},
		"tags in odd spelling": {
			`< THINK >a</ think><toolcall>[{"name": "find_product", "parameters": {"q": "lamp"}}]</toolcall>`,
			dialect.Reading{Think: "a", Calls: lamp, Repairs: []string{dialect.RepairTag}},
		},
		"thinking never closed before a call": {
			`<think>a <tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}}]</tool_call>`,
			dialect.Reading{Think: "a", Calls: lamp, Repairs: []string{dialect.RepairThink}},
		},
		"cut inside of thinking": {
			`<think>the lamp is`,
			dialect.Reading{Think: "the lamp is", Repairs: []string{dialect.RepairThink}},
		},
		"python's spelling": {
			`<tool_call>[{'name': 'find_product', 'parameters': {'q': 'men\'s "lamp"', 'page': None, 'x': True,},}]</tool_call>`,
			dialect.Reading{
				Calls:   calls("find_product", `{"q":"men's \"lamp\"","page":null,"x":true}`),
				Repairs: []string{dialect.RepairQuotes, dialect.RepairCommas, dialect.RepairLiterals},
			},
		},
		"keys without quotes, a raw line break": {
			"<tool_call>[{name: \"find_product\", parameters: {q: \"a\nb\"}}]</tool_call>",
			dialect.Reading{Calls: calls("find_product", `{"q":"a\u000ab"}`), Repairs: []string{dialect.RepairKeys, dialect.RepairControl}},
		},
		"brackets missing inside of a closed tag": {
			`<tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}</tool_call>`,
			dialect.Reading{Calls: calls("find_product", `{"q":"lamp"}`), Repairs: []string{dialect.RepairClosers}},
		},
		"observation with ids": {
			`<obs>[{"tool_call_id": "x", "results": [1]}, {"tool_call_id": "y", "results": "t"}]</obs>`,
			dialect.Reading{Results: []dialect.Result{{ID: "x", Content: "[1]"}, {ID: "y", Content: `"t"`}}},
		},
		"words only": {"I like lamps < 5 and {braces}.", dialect.Reading{Text: "I like lamps < 5 and {braces}."}},
		"json that is no call": {
			`{"vote": "go on"}`, dialect.Reading{Text: `{"vote": "go on"}`},
		},
		"cut in the middle of a call": {
			`<tool_call>[{"name": "find_product", "parameters": {"q": "la`,
			dialect.Reading{Repairs: []string{dialect.RepairTag}, Faults: []string{dialect.FaultCall}},
		},
		"arguments that are no object": {
			`<tool_call>[{"name": "find_product", "parameters": [1]}]</tool_call>`,
			dialect.Reading{Faults: []string{dialect.FaultArguments}},
		},
		"a call without a name": {
			`<tool_call>[{"parameters": {}}]</tool_call>`,
			dialect.Reading{Faults: []string{dialect.FaultName}},
		},
		"nested too deep": {
			"<tool_call>" + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "</tool_call>",
			dialect.Reading{Faults: []string{dialect.FaultCall}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, dialect.Read(c.text)); diff != "" {
				t.Errorf("reading differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestThinkLeavesCallsOut(t *testing.T) {
	t.Parallel()
	think, words := dialect.Think(`<think>a</think> b <tool_call>[{"name": "x"}]</tool_call><response>c</response>`)
	if think != "a" || words != "b\nc" {
		t.Errorf("Think = %q, %q", think, words)
	}
}
