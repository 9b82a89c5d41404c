package gates_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

func ownCases(t testing.TB) []labelled {
	world := readGoods(t, "testdata/world.txt")
	cases := readCases(t, "testdata/cases.txt", world)
	cases = append(cases, readCases(t, "testdata/second.txt", world)...)
	cases = append(cases, readCases(t, "testdata/third.txt", world)...)
	return append(cases, readCases(t, "testdata/fourth.txt", world)...)
}

// TestWalks pins the explained walk of one case of each kind.
func TestWalks(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	seen := map[string]bool{}
	for _, c := range ownCases(t) {
		if seen[c.kind] {
			continue
		}
		seen[c.kind] = true
		j := gates.Judge(c.trace, c.dialogue)
		fmt.Fprintf(&text, "%s (%s): %v\n", c.name, c.kind, *j.Score)
		for _, s := range j.Spans {
			fmt.Fprintf(&text, "  gate %d, step %d: %q\n", s.Gate, s.Step, s.Quote)
		}
		fmt.Fprintf(&text, "  %s\n", j.Detail)
	}
	golden(t, "testdata/walks.golden", text.String())
}

// TestSpansAreCutFromTheTrace checks the form of every judgement: the path through the gates, the
// score that belongs to it, and quotes that the named step contains.
func TestSpansAreCutFromTheTrace(t *testing.T) {
	t.Parallel()
	for _, c := range ownCases(t) {
		j := gates.Judge(c.trace, c.dialogue)
		checkForm(t, c.name, c.trace, c.dialogue, j)
	}
}

func checkForm(t *testing.T, name string, trace *arena.Trace, d *arena.Dialogue, j arena.Judgement) {
	t.Helper()
	passed := 0
	for passed < len(j.Gates) && j.Gates[passed] {
		passed++
	}
	want := []float64{0.1, 0.3, 0.5, 0.7, 0.9}[passed]
	if j.Judge != gates.Name || len(j.Gates) != 4 || *j.Score != want || len(j.Spans) != passed || j.Detail == "" {
		t.Errorf("%s: %v gates, %d spans, score %v, detail %q", name, j.Gates, len(j.Spans), *j.Score, j.Detail)
	}
	for _, s := range j.Spans {
		if s.Quote == "" || !stands(trace, d, s) {
			t.Errorf("%s: gate %d quotes %q, which step %d does not hold", name, s.Gate, s.Quote, s.Step)
		}
	}
}

func stands(trace *arena.Trace, d *arena.Dialogue, s arena.Span) bool {
	for i := range d.Turns {
		step := trace.Steps[d.Turns[i].Step]
		if step.Number != s.Step {
			continue
		}
		if strings.Contains(d.Turns[i].Think, s.Quote) {
			return true
		}
		for _, p := range step.Proxy {
			if s.Gate == 1 && strings.Contains(string(p.Response), s.Quote) {
				return true
			}
		}
	}
	return false
}

func TestNoDialogueIsNoGrade(t *testing.T) {
	t.Parallel()
	j := gates.Judge(&arena.Trace{}, &arena.Dialogue{})
	if j.Outcome != arena.JudgeFailed || j.Score != nil || j.Detail == "" {
		t.Errorf("%+v", j)
	}
}

func TestInferenceGate(t *testing.T) {
	t.Parallel()
	long := "I compared what came back with the request, item by item, and weighed the prices of all the listings against the limit. Then I looked again."
	chatCall := func(change func(*arena.ProxyCall)) arena.ProxyCall {
		c := chat("60", false)
		change(&c)
		return c
	}
	tests := []struct {
		name   string
		calls  []arena.ProxyCall
		log    bool
		think  string
		passed bool
		reply  string
	}{
		{"answered", []arena.ProxyCall{chat("30", false)}, true, "", true, "30 tokens"},
		{"short", []arena.ProxyCall{chat("29", false), chat("12", false)}, true, long, false, "largest has 29"},
		{"attempt record", []arena.ProxyCall{chat("300", true)}, true, long, false, "no answered chat completion"},
		{"failed", []arena.ProxyCall{chatCall(func(c *arena.ProxyCall) { c.Status = 502 })}, true, long, false, "no answered chat completion"},
		{"embeddings", []arena.ProxyCall{chatCall(func(c *arena.ProxyCall) { c.Path = "/inference/embeddings" })}, true, long, false, "no answered chat completion"},
		{"no log", nil, true, long, false, "no answered chat completion"},
		{"truncated, usage left", []arena.ProxyCall{chatCall(func(c *arena.ProxyCall) {
			c.Truncated = true
			c.Response = `"es\"}}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":41}}"`
		})}, true, "", true, "41 tokens"},
		{"truncated, usage forged in the text", []arena.ProxyCall{chatCall(func(c *arena.ProxyCall) {
			c.Truncated = true
			c.Response = `"{\"choices\":[{\"message\":{\"content\":\"\\\"completion_tokens\\\": 500"`
		})}, true, "short", false, "no reply's usage is known"},
		{"truncated, no usage", []arena.ProxyCall{chatCall(func(c *arena.ProxyCall) {
			c.Truncated = true
			c.Response = ""
		})}, true, long, true, "recorded content's length"},
		{"usage known for one reply only", []arena.ProxyCall{chat("12", false), chatCall(func(c *arena.ProxyCall) { c.Response = "" })}, true, long, false, "largest has 12"},
		{"messages without a log", nil, false, long, true, "recorded content's length"},
		{"short messages without a log", nil, false, "ok", false, "recorded content's length"},
	}
	for _, test := range tests {
		trace := &arena.Trace{HasDialogue: true, Source: arena.Source{HasProxyLog: test.log},
			Steps: []arena.Step{{Number: 1, Proxy: test.calls}}}
		d := &arena.Dialogue{Turns: []arena.Turn{{Think: test.think}}}
		j := gates.Judge(trace, d)
		detail := j.Detail
		if j.Gates[0] {
			detail = strings.NewReplacer(`"completion_tokens":`, "", `}`, "").Replace(j.Spans[0].Quote) + " tokens; " + j.Detail
		}
		if j.Gates[0] != test.passed || !strings.Contains(detail, test.reply) {
			t.Errorf("%s: passed %v, detail %q", test.name, j.Gates[0], detail)
		}
	}
}
