package filters_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestPuppetsOfTheDay turns every program of the labelled day into a puppet:
// before each of its steps a model is made to repeat the step's own calls. What
// it names is then perfect; only the habits of the day remain.
func TestPuppetsOfTheDay(t *testing.T) {
	t.Parallel()
	var day []labelled
	for _, l := range readDay(t, longtest.Shared(t, "data/day")) {
		switch l.family {
		case "planner", "regex", "classifier", "narrator", "hybrid", "decoy", "injector":
			if shownWhole(l.trace) {
				day = append(day, labelled{trace: puppet(l.trace), family: "puppet of " + l.family})
			}
		}
	}
	judged := judgeDay(t, day)
	report(t, judged)
	missed := 0
	for _, j := range judged {
		if j.before.Axis != arena.AxisAgentic {
			t.Errorf("%s: the axis of the first pass is %s, though everything was named", j.trace.ID, j.before.Axis)
		}
		if j.after.Axis == arena.AxisAgentic {
			missed++
		}
	}
	if share := float64(missed) / float64(len(judged)); share > 0.05 {
		t.Errorf("%.3f of the puppets pass, want at most 0.05", share)
	}
}

// shownWhole reports whether the dialogue shows as many requests as the proxy saw, so that each can
// be added after its own step.
func shownWhole(t *arena.Trace) bool {
	n := 0
	for i := range t.Steps {
		for _, p := range t.Steps[i].Proxy {
			if p.Params != "" {
				n++
			}
		}
		for _, c := range t.Steps[i].Calls {
			if asksShop(c.Name) {
				n--
			}
		}
	}
	return n == 0
}

func asksShop(name string) bool {
	return name == "find_product" || name == "view_product_information"
}

// puppet copies a trace with its inference replaced: one reply before each
// step's dispatches that names exactly the step's calls.
func puppet(t *arena.Trace) *arena.Trace {
	c := *t
	c.Steps = append([]arena.Step(nil), t.Steps...)
	var dispatches []arena.ProxyCall
	for i := range c.Steps {
		for _, p := range c.Steps[i].Proxy {
			if p.Params != "" {
				dispatches = append(dispatches, p)
			}
		}
	}
	var calls []arena.ProxyCall
	next := 0
	clock := int64(1790000000000)
	for i := range c.Steps {
		clock += 4000
		calls = append(calls, naming(&c.Steps[i], fmt.Sprint(t.ID, i), clock))
		for _, call := range c.Steps[i].Calls {
			if next < len(dispatches) && asksShop(call.Name) {
				d := dispatches[next]
				next++
				clock += 300
				d.AtMS = clock
				d.DurationMS = 200
				calls = append(calls, d)
			}
		}
		clock += 20
		c.Steps[i].Timestamp = arena.Raw(fmt.Sprint(clock))
		c.Steps[i].Proxy = nil
	}
	c.Steps[0].Proxy = calls
	c.InferenceTotal = len(c.Steps)
	return &c
}

func naming(s *arena.Step, id string, ms int64) arena.ProxyCall {
	var calls []any
	for _, c := range s.Calls {
		calls = append(calls, map[string]any{"name": c.Name, "parameters": json.RawMessage(c.Arguments)})
	}
	list, _ := json.Marshal(calls)
	body, _ := json.Marshal(map[string]any{"id": id, "choices": []any{map[string]any{
		"message": map[string]any{"role": "assistant", "content": "<tool_call>" + string(list) + "</tool_call>"},
	}}})
	return arena.ProxyCall{Method: "POST", Path: "/inference/chat/completions", AtMS: ms, DurationMS: 3000, Status: 200, Response: arena.Raw(body), Length: -1}
}
