package calls_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

func written(names ...string) (out []arena.Call) {
	for i := 0; i+1 < len(names); i += 2 {
		out = append(out, arena.Call{Name: names[i], Arguments: arena.Raw(names[i+1])})
	}
	return out
}

func TestRead(t *testing.T) {
	t.Parallel()
	lamp := written("find_product", `{"q": "lamp"}`)
	for name, c := range map[string]struct {
		text string
		want calls.Reading
	}{
		"one list in a tag": {
			`<think>hm</think><tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}}]</tool_call><response>ok</response>`,
			calls.Reading{Think: "hm", Text: "ok", Calls: lamp},
		},
		"several lists": {
			`<tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}}] [{"name": "terminate", "parameters": {}}]</tool_call>`,
			calls.Reading{Calls: append(lamp, written("terminate", "{}")...), Repairs: []string{calls.RepairLists}},
		},
		"hermes objects": {
			"<think>a</think>\n\n<tool_call>\n{\"name\": \"find_product\", \"arguments\": {\"q\": \"lamp\"}}\n</tool_call>\n<tool_call>{\"name\": \"terminate\"}</tool_call>",
			calls.Reading{Think: "a", Calls: append(lamp, written("terminate", "{}")...), Repairs: []string{calls.RepairHermes}},
		},
		"react lines": {
			"Thought: need a lamp\nAction: find_product\nAction Input: {\"q\": \"lamp\"}",
			calls.Reading{Think: "need a lamp", Calls: lamp, Repairs: []string{calls.RepairReAct}},
		},
		"react with stars, a fence and its observation": {
			"**Thought:** need\n**Action:** `find_product`\n**Action Input:** ```json\n{\"q\": \"lamp\"}\n```\nObservation: []\nFinal Answer: done",
			calls.Reading{Think: "need", Text: "done", Calls: lamp, Results: []calls.Result{{Content: "[]"}}, Repairs: []string{calls.RepairReAct}},
		},
		"react with words after the input": {
			"Action: find_product\nAction Input: {\"q\": \"lamp\"}\nThen I compare prices.\nAction: terminate\nAction Input: {} That is all.",
			calls.Reading{Text: "Then I compare prices.\nThat is all.", Calls: append(lamp, written("terminate", "{}")...), Repairs: []string{calls.RepairReAct}},
		},
		"react with a second object after the input": {
			"Action: find_product\nAction Input: {\"q\": \"lamp\"} or {\"q\": \"mug\"}",
			calls.Reading{Repairs: []string{calls.RepairReAct}, Faults: []string{calls.FaultArguments}},
		},
		"react call in one line": {
			`Action: find_product({"q": "lamp"})`,
			calls.Reading{Calls: lamp, Repairs: []string{calls.RepairReAct}},
		},
		"react action with words in brackets": {
			"Thought: when was it?\nAction: search[Alien (1979 film), by \"Fox\"]\nObservation: a film",
			calls.Reading{
				Think: "when was it?", Calls: written("search", `{"input":"Alien (1979 film), by \"Fox\""}`),
				Results: []calls.Result{{Content: arena.Quote("a film")}}, Repairs: []string{calls.RepairReAct, calls.RepairWords},
			},
		},
		"react input of words": {
			"Action: Search\nAction Input: capital of France",
			calls.Reading{Calls: written("Search", `{"input":"capital of France"}`), Repairs: []string{calls.RepairReAct, calls.RepairWords}},
		},
		"react command with brackets in pairs": {
			"Action: execute[find /testbed -name '*[0-9].java' -exec md5sum {} + | awk '{print $1}']",
			calls.Reading{
				Calls:   written("execute", `{"input":"find /testbed -name '*[0-9].java' -exec md5sum {} + | awk '{print $1}'"}`),
				Repairs: []string{calls.RepairReAct, calls.RepairWords},
			},
		},
		"react words before damaged JSON": {
			"Action: find_product\nAction Input: with {\"q\": \"lamp\"}",
			calls.Reading{Repairs: []string{calls.RepairReAct}, Faults: []string{calls.FaultArguments}},
		},
		"react command without its last bracket": {
			"Action: execute[sort -k1,1 a.txt",
			calls.Reading{Repairs: []string{calls.RepairReAct}, Faults: []string{calls.FaultArguments}},
		},
		"words after brackets are no input": {
			"Action: search[lamp] or search[mug]",
			calls.Reading{Repairs: []string{calls.RepairReAct}, Faults: []string{calls.FaultArguments}},
		},
		"keywords of a call in one line are no words": {
			"Action: search(q=lamp)",
			calls.Reading{Repairs: []string{calls.RepairReAct}, Faults: []string{calls.FaultArguments}},
		},
		"a sentence names no tool": {
			"Action: I would search [the web]",
			calls.Reading{Repairs: []string{calls.RepairReAct}, Faults: []string{calls.FaultArguments}},
		},
		"react input that is damaged JSON": {
			"Action: find_product\nAction Input: \"q\": \"lamp\"",
			calls.Reading{Repairs: []string{calls.RepairReAct}, Faults: []string{calls.FaultArguments}},
		},
		"react after thinking in tags": {
			"<think>a</think>\nAction: find_product\nAction Input: {\"q\": \"lamp\"}",
			calls.Reading{Think: "a", Calls: lamp, Repairs: []string{calls.RepairReAct}},
		},
		"a harness's own keys": {
			`{"thought": "a", "tool": "find_product", "tool_input": {"q": "lamp"}}`,
			calls.Reading{Calls: lamp, Repairs: []string{calls.RepairBare}},
		},
		"arguments next to the name": {
			`{"thought": "a", "action": "find_product", "q": "lamp"}`,
			calls.Reading{Calls: written("find_product", `{"q":"lamp"}`), Repairs: []string{calls.RepairBare}},
		},
		"a label is no call": {
			`{"action": "find_product", "thought": "a"}`,
			calls.Reading{Text: `{"action": "find_product", "thought": "a"}`},
		},
		"fenced": {
			"First the lamp.\n```json\n[{\"name\": \"find_product\", \"parameters\": {\"q\": \"lamp\"}}]\n```",
			calls.Reading{Text: "First the lamp.", Calls: lamp, Repairs: []string{calls.RepairFence}},
		},
		"bare": {
			`{"name": "find_product", "arguments": {"q": "lamp"}}`,
			calls.Reading{Calls: lamp, Repairs: []string{calls.RepairBare}},
		},
		"native inside of text": {
			`[{"id": "c1", "type": "function", "function": {"name": "find_product", "arguments": "{\"q\": \"lamp\"}"}}]`,
			calls.Reading{Calls: []arena.Call{{ID: "c1", Name: "find_product", Arguments: `{"q": "lamp"}`}}, Repairs: []string{calls.RepairFunctionNested, calls.RepairArgumentsText, calls.RepairBare}},
		},
		"call inside of thinking": {
			`<think>so <tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}}]</tool_call></think>`,
			calls.Reading{Think: "so", Calls: lamp, Repairs: []string{calls.RepairThinkCall}},
		},
		"call inside of nested thinking": {
			`<think>so <thinking>then <tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}}]</tool_call></thinking></think>`,
			calls.Reading{Think: "so\nthen", Calls: lamp, Repairs: []string{calls.RepairThinkCall}},
		},
		"call split by thinking": {
			`<tool_call>[{"name": "find_product", <think>which?</think> "parameters": {"q": "lamp"}}]</tool_call>`,
			calls.Reading{Think: "which?", Calls: written("find_product", `{"q": "lamp"}`), Repairs: []string{calls.RepairSplit}},
		},
		"tag never closed": {
			`<think>a</think><tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}}]`,
			calls.Reading{Think: "a", Calls: lamp, Repairs: []string{calls.RepairTag}},
		},
		"tags in odd spelling": {
			`< THINK >a</ think><toolcall>[{"name": "find_product", "parameters": {"q": "lamp"}}]</toolcall>`,
			calls.Reading{Think: "a", Calls: lamp, Repairs: []string{calls.RepairTag}},
		},
		"thinking never closed before a call": {
			`<think>a <tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}}]</tool_call>`,
			calls.Reading{Think: "a", Calls: lamp, Repairs: []string{calls.RepairThink}},
		},
		"cut inside of thinking": {
			`<think>the lamp is`,
			calls.Reading{Think: "the lamp is", Repairs: []string{calls.RepairThink}},
		},
		"python's spelling": {
			`<tool_call>[{'name': 'find_product', 'parameters': {'q': 'men\'s "lamp"', 'page': None, 'x': True,},}]</tool_call>`,
			calls.Reading{
				Calls:   written("find_product", `{"q":"men's \"lamp\"","page":null,"x":true}`),
				Repairs: []string{calls.RepairQuotes, calls.RepairCommas, calls.RepairLiterals},
			},
		},
		"keys without quotes, a raw line break": {
			"<tool_call>[{name: \"find_product\", parameters: {q: \"a\nb\"}}]</tool_call>",
			calls.Reading{Calls: written("find_product", `{"q":"a\u000ab"}`), Repairs: []string{calls.RepairKeys, calls.RepairControl}},
		},
		"brackets missing inside of a closed tag": {
			`<tool_call>[{"name": "find_product", "parameters": {"q": "lamp"}</tool_call>`,
			calls.Reading{Calls: written("find_product", `{"q":"lamp"}`), Repairs: []string{calls.RepairClosers}},
		},
		"observation with ids": {
			`<obs>[{"tool_call_id": "x", "results": [1]}, {"tool_call_id": "y", "results": "t"}]</obs>`,
			calls.Reading{Results: []calls.Result{{ID: "x", Content: "[1]"}, {ID: "y", Content: `"t"`}}},
		},
		"words only": {"I like lamps < 5 and {braces}.", calls.Reading{Text: "I like lamps < 5 and {braces}."}},
		"json that is no call": {
			`{"vote": "go on"}`, calls.Reading{Text: `{"vote": "go on"}`},
		},
		"cut in the middle of a call": {
			`<tool_call>[{"name": "find_product", "parameters": {"q": "la`,
			calls.Reading{Repairs: []string{calls.RepairTag}, Faults: []string{calls.FaultCall}},
		},
		"arguments that are no object": {
			`<tool_call>[{"name": "find_product", "parameters": [1]}]</tool_call>`,
			calls.Reading{Faults: []string{calls.FaultArguments}},
		},
		"a call without a name": {
			`<tool_call>[{"parameters": {}}]</tool_call>`,
			calls.Reading{Faults: []string{calls.FaultName}},
		},
		"nested too deep": {
			"<tool_call>" + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "</tool_call>",
			calls.Reading{Faults: []string{calls.FaultCall}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, calls.Mended(c.text)); diff != "" {
				t.Errorf("reading differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestThinkLeavesCallsOut(t *testing.T) {
	t.Parallel()
	think, words := calls.SplitThink(`<think>a</think> b <tool_call>[{"name": "x"}]</tool_call><response>c</response>`)
	if think != "a" || words != "b\nc" {
		t.Errorf("Think = %q, %q", think, words)
	}
}
