package filters_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// withLog adds a proxy log to a trace: every call of a step was sent after a reply that named it,
// or after a reply that only announces thinking.
func withLog(tr *arena.Trace, names bool) *arena.Trace {
	c := rewrite(tr, func(s string) string { return s })
	ms := int64(start)
	for i := range c.Steps {
		s := &c.Steps[i]
		if len(s.Calls) == 0 {
			continue
		}
		type function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		}
		calls := []map[string]function{}
		for _, x := range s.Calls {
			calls = append(calls, map[string]function{"function": {x.Name, string(x.Arguments)}})
		}
		message := map[string]any{"role": "assistant", "content": "I think."}
		if names {
			message["tool_calls"] = calls
		}
		body, _ := json.Marshal(map[string]any{"id": c.ID + string(rune('a'+i)), "choices": []any{map[string]any{"message": message}}})
		ms += 3000
		s.Proxy = []arena.ProxyCall{{Path: "/inference/chat/completions", Status: 200, AtMS: ms, DurationMS: 1500 + float64(i), Response: arena.Raw(body)}}
		for _, x := range s.Calls {
			ms += 100
			s.Proxy = append(s.Proxy, arena.ProxyCall{Path: "/env/" + x.Name, Status: 200, AtMS: ms, DurationMS: 20, Body: x.Arguments, Response: x.Result})
		}
	}
	return c
}

// TestAnyHarness holds that the log alone distinguishes the airline agents of tau-bench, whose
// tools are not a shop's, from programs, with the ready map and without.
func TestAnyHarness(t *testing.T) {
	t.Parallel()
	attempts := readTraces(t, filepath.Join(longtest.Shared(t, "data/real"), "tau-bench"))
	for _, harness := range []string{"shop", "tau-bench"} {
		cfg := filters.Defaults()
		cfg.Harness = harness
		f, err := filters.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, names := range []bool{true, false} {
			n := map[arena.Axis]int{}
			for _, tr := range attempts {
				d := filters.Normalise(tr)
				if callsIn(d) > 0 {
					n[axisOf(f, withLog(tr, names))]++
				}
			}
			wrong := n[arena.AxisScripted]
			if !names {
				wrong = n[arena.AxisAgentic]
			}
			t.Logf("%s, named %v: %v", harness, names, n)
			if wrong > 0 || n[arena.AxisUnknown]*20 > len(attempts) {
				t.Errorf("%s, named %v: %v", harness, names, n)
			}
		}
	}
}

// TestDeclaredTools holds that schemas show which tools open items and which search, and that a
// tool in the map keeps its role.
func TestDeclaredTools(t *testing.T) {
	t.Parallel()
	schema := func(name, properties string) string {
		return `{"type": "function", "function": {"name": "` + name + `", "parameters": {"properties": {` + properties + `}}}}`
	}
	declared := arena.Raw("[" + strings.Join([]string{
		schema("look_up", `"text": {"type": "string"}, "page": {"type": "integer"}`),
		schema("details", `"item_id": {"type": "string"}, "language": {"type": "string"}`),
		schema("many", `"IDs": {"type": "array"}`),
		schema("ping", ""),
		schema("find_product", `"product_id": {"type": "string"}`),
	}, ", ") + `, {"name": "flat", "parameters": {"properties": {"q": {"type": "string"}}}}, {"function": {}}, 7]`)
	got := evidence.AddDeclared(evidence.HarnessTools(evidence.Declared, nil), declared)
	for name, want := range map[string]evidence.Role{
		"look_up":      {Tool: evidence.ToolFind, Words: []string{"text"}},
		"details":      {Tool: evidence.ToolView, IDs: []string{"item_id"}, Words: []string{"language"}},
		"many":         {Tool: evidence.ToolView, IDs: []string{"IDs"}},
		"ping":         {Tool: evidence.ToolAsk},
		"flat":         {Tool: evidence.ToolFind, Words: []string{"q"}},
		"find_product": {Tool: evidence.ToolFind},
	} {
		if !reflect.DeepEqual(got[name], want) {
			t.Errorf("%s: %+v, want %+v", name, got[name], want)
		}
	}
	for _, broken := range []arena.Raw{"", "7", "{", `{"function": 1}`} {
		if n := len(evidence.AddDeclared(nil, broken)); n > 0 {
			t.Errorf("%q declares %d tools", broken, n)
		}
	}
}

// TestAnEpisodesToolsAreDeclared checks that the tools of a real episode have the same roles by the
// declarations of its environment pack as by the ready map, except for the tools that decide.
func TestAnEpisodesToolsAreDeclared(t *testing.T) {
	t.Parallel()
	attempts := readTraces(t, filepath.Join(longtest.Shared(t, "data/real"), "oro-episode"))
	ready := evidence.HarnessTools("envpack", nil)
	for _, tr := range attempts {
		got := evidence.AddDeclared(evidence.HarnessTools(evidence.Declared, nil), tr.Tools)
		for _, name := range []string{"search", "view"} {
			if got[name].Tool != ready[name].Tool {
				t.Errorf("%s: %+v, want %+v", name, got[name], ready[name])
			}
		}
	}
}

func callsIn(d arena.Dialogue) (n int) {
	for i := range d.Turns {
		n += len(d.Turns[i].Calls)
	}
	return n
}

// TestToolsOfTheConfiguration checks that the configuration can set the role of a tool, and that an
// unknown role is refused.
func TestToolsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	cfg := filters.Defaults()
	cfg.Harness = "envpack"
	cfg.Tools = map[string]filters.Tool{"buy_now": {As: "answer", IDs: []string{"item"}}}
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
	cfg.Harness = "bazaar"
	cfg.Tools = map[string]filters.Tool{"buy_now": {As: "purchase"}}
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "bazaar") || !strings.Contains(err.Error(), "filter.tools.buy_now.as") {
		t.Errorf("accepted: %v", err)
	}
}
