package filters_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/calls"
)

func TestNormalise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trace arena.Trace
		want  arena.Dialogue
	}{
		"calls that the step lists": {
			arena.Trace{Steps: []arena.Step{{Think: "a", Response: "b", Calls: []arena.ToolCall{{ID: "1", Name: "functions.find_product", Arguments: `{"q": "x"}`, Result: "[]"}}}}},
			arena.Dialogue{Turns: []arena.Turn{{Think: "a", Text: "b", Calls: []arena.Call{{ID: "1", Name: "find_product", Arguments: `{"q": "x"}`, Result: "[]"}}}}},
		},
		"thinking and words out of the content": {
			arena.Trace{Steps: []arena.Step{{Content: "<think>a</think> b <tool_call>[]</tool_call>", Calls: []arena.ToolCall{{ID: "1", Name: "f", Result: "1"}}}}},
			arena.Dialogue{Turns: []arena.Turn{{Think: "a", Text: "b", Calls: []arena.Call{{ID: "1", Name: "f", Arguments: "{}", Result: "1"}}}}},
		},
		"calls in reasoning": {
			arena.Trace{Steps: []arena.Step{{Content: "on it", Reasoning: `hm <tool_call>[{"name": "f", "parameters": {}}]</tool_call>`}}},
			arena.Dialogue{Turns: []arena.Turn{{Think: "hm", Text: "on it", Calls: []arena.Call{{ID: "#0", Name: "f", Arguments: "{}"}}, Repairs: []string{calls.RepairReasoning}}}},
		},
		"results in the user's next message, by order": {
			arena.Trace{Query: "q", Steps: []arena.Step{
				{Role: arena.RoleUser, Content: "q"},
				{Content: `<tool_call>[{"name": "f", "parameters": {}}, {"name": "g", "parameters": {}}]</tool_call>`},
				{Role: arena.RoleUser, Content: `<tool_response>[1]</tool_response><tool_response>[2]</tool_response>`},
				{Role: arena.RoleUser, Content: "and cheaper?"},
			}},
			arena.Dialogue{Turns: []arena.Turn{
				{Step: 1, Calls: []arena.Call{{ID: "#0", Name: "f", Arguments: "{}", Result: "[1]"}, {ID: "#1", Name: "g", Arguments: "{}", Result: "[2]"}}},
				{Step: 3, User: "and cheaper?"},
			}},
		},
		"an observation of the user answers the call": {
			arena.Trace{Steps: []arena.Step{
				{Content: "Thought 1: who?\nAction 1: search[the <b>show</b>]"},
				{Role: arena.RoleUser, Content: "Observation 1: A show.\nAction: none"},
				{Content: "Action: finish[it]"},
				{Role: arena.RoleUser, Content: "Observation:"},
				{Role: arena.RoleUser, Content: "Observation: it rains"},
			}},
			arena.Dialogue{Turns: []arena.Turn{
				{Think: "who?", Calls: []arena.Call{{ID: "#0", Name: "search", Arguments: `{"input":"the <b>show</b>"}`, Result: `"A show.\nAction: none"`}}, Repairs: []string{calls.RepairReAct, calls.RepairWords}},
				{Step: 2, Calls: []arena.Call{{ID: "#1", Name: "finish", Arguments: `{"input":"it"}`, Result: `""`}}, Repairs: []string{calls.RepairReAct, calls.RepairWords}},
				{Step: 4, User: "Observation: it rains"},
			}},
		},
		"results in the next step, by id": {
			arena.Trace{Steps: []arena.Step{
				{Calls: []arena.ToolCall{{ID: "1", Name: "f"}, {ID: "2", Name: "g"}}},
				{Content: `<obs>[{"tool_call_id": "2", "results": "b"}, {"tool_call_id": "1", "results": "a"}]</obs>`},
			}},
			arena.Dialogue{Turns: []arena.Turn{
				{Calls: []arena.Call{{ID: "1", Name: "f", Arguments: "{}", Result: `"a"`}, {ID: "2", Name: "g", Arguments: "{}", Result: `"b"`}}, Repairs: []string{calls.RepairLaterResults}},
			}},
		},
		"results next to the message": {
			arena.Trace{Steps: []arena.Step{{
				Calls: []arena.ToolCall{{ID: "1", Name: "f"}},
				Raw:   `{"completion": {"message": {"obs": [{"tool_call_id": "1", "results": [5]}]}}}`,
			}}},
			arena.Dialogue{Turns: []arena.Turn{{Calls: []arena.Call{{ID: "1", Name: "f", Arguments: "{}", Result: "[5]"}}, Repairs: []string{calls.RepairLaterResults}}}},
		},
		"an id that another repeated one would get": {
			arena.Trace{Steps: []arena.Step{{Calls: []arena.ToolCall{{ID: "1#2", Name: "f"}, {ID: "1", Name: "f"}, {ID: "1", Name: "f"}}}}},
			arena.Dialogue{Turns: []arena.Turn{{Calls: []arena.Call{
				{ID: "1#2", Name: "f", Arguments: "{}"}, {ID: "1", Name: "f", Arguments: "{}"}, {ID: "1#2#", Name: "f", Arguments: "{}"},
			}}}},
		},
		"ids that repeat": {
			arena.Trace{Steps: []arena.Step{
				{Calls: []arena.ToolCall{{ID: "1", Name: "f", Result: "1"}}},
				{Calls: []arena.ToolCall{{ID: "1", Name: "f", Result: "2"}}},
			}},
			arena.Dialogue{Turns: []arena.Turn{
				{Calls: []arena.Call{{ID: "1", Name: "f", Arguments: "{}", Result: "1"}}},
				{Step: 1, Calls: []arena.Call{{ID: "1#1", Name: "f", Arguments: "{}", Result: "2"}}},
			}},
		},
		"arguments as text are OpenAI's own form": {
			arena.Trace{Source: arena.Source{TextArguments: true}, Steps: []arena.Step{{Calls: []arena.ToolCall{{ID: "1", Name: "f", Arguments: `"{\"q\": 1}"`, Result: "1"}}}}},
			arena.Dialogue{Turns: []arena.Turn{{Calls: []arena.Call{{ID: "1", Name: "f", Arguments: `{"q": 1}`, Result: "1"}}}}},
		},
		"mended arguments are named": {
			arena.Trace{Source: arena.Source{TextArguments: true}, Steps: []arena.Step{{Calls: []arena.ToolCall{{ID: "1", Name: "f", Arguments: `"{q: 'lamp'}"`, Result: "1"}}}}},
			arena.Dialogue{Turns: []arena.Turn{{
				Calls:   []arena.Call{{ID: "1", Name: "f", Arguments: `{"q":"lamp"}`, Result: "1"}},
				Repairs: []string{calls.RepairQuotes, calls.RepairKeys},
			}}},
		},
		"arguments that break off are a fault": {
			arena.Trace{Source: arena.Source{TextArguments: true}, Steps: []arena.Step{{Calls: []arena.ToolCall{{ID: "1", Name: "f", Arguments: `"{\"q\": [1, 2"`, Result: `"bad JSON"`}}}}},
			arena.Dialogue{
				Turns:  []arena.Turn{{Calls: []arena.Call{{ID: "1", Name: "f", Arguments: "{}", Result: `"bad JSON"`}}}},
				Faults: []string{calls.FaultArguments},
			},
		},
		"what cannot be read is a fault": {
			arena.Trace{Steps: []arena.Step{{Calls: []arena.ToolCall{{ID: "1", Name: "f", Arguments: `[1]`, Result: "1"}}}, {Content: "<obs>[1]</obs>"}}},
			arena.Dialogue{
				Turns:  []arena.Turn{{Calls: []arena.Call{{ID: "1", Name: "f", Arguments: "{}", Result: "1"}}, Repairs: []string{calls.RepairLaterResults}}},
				Faults: []string{calls.FaultArguments, calls.FaultOrphan},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, filters.Normalise(&c.trace)); diff != "" {
				t.Errorf("dialogue differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	call := func(name, args string) arena.Call {
		return arena.Call{Name: name, Arguments: arena.Raw(args), Result: "[]"}
	}
	dialogue := func(calls ...arena.Call) *arena.Dialogue {
		return &arena.Dialogue{Turns: []arena.Turn{{Think: "a", Calls: calls}}}
	}
	good := dialogue(
		call("find_product", `{"q": "lamp"}`), call("find_product", `{"q": "LAMP", "page": 2}`), call("find_product", `{"q": "desk lamp"}`),
		call("view_product_information", `{"product_ids": "7,8"}`), call("recommend_product", `{"product_ids": "7"}`))
	signals := func(d *arena.Dialogue) map[string]float64 {
		verdict, _ := newFilter(t).Check(&arena.Trace{}, d)
		values := map[string]float64{"score": filters.RankScore(&verdict)}
		for _, f := range verdict.Features {
			values[f.Name] = f.Value
		}
		return values
	}
	s := signals(good)
	if s["reformulations"] != 0.5 || s["verified"] != 1 || s["regular"] != 1 || s["depth"] <= 0 || s["depth"] >= 1 {
		t.Errorf("good attempt: %+v", s)
	}
	loop := signals(dialogue(call("find_product", `{"q": "a"}`), call("find_product", `{"q": "b"}`), call("find_product", `{"q": "a"}`), call("find_product", `{"q": "b"}`), call("recommend_product", `{"product_ids": "7"}`)))
	if loop["regular"] != 0.5 || loop["verified"] != 0 {
		t.Errorf("ping-pong: %+v", loop)
	}
	if s["score"] <= loop["score"] {
		t.Error("the order of good and looping attempt is wrong")
	}
}
