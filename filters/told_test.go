package filters_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
)

// TestDictatedCalls holds that an attempt is a program's if the newest prompts in its log hold the
// calls that the replies then name. Examples in the system message, results, and one reminder are
// no evidence.
func TestDictatedCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prompt   func(n int, call string) []message
		scripted bool
	}{
		"every call": {scripted: true, prompt: func(_ int, call string) []message {
			return []message{{"system", "You shop."}, {"user", "Now write exactly this: " + call}}
		}},
		"examples in the system message": {prompt: func(_ int, call string) []message {
			return []message{{"system", "You shop. An example: " + call}, {"user", "Find a lamp."}}
		}},
		"earlier calls in the history": {prompt: func(_ int, call string) []message {
			return []message{{"user", "Find a lamp."}, {"assistant", call}, {"user", "Result: []"}}
		}},
		"one reminder": {prompt: func(n int, call string) []message {
			if n > 0 {
				return []message{{"user", "Go on."}}
			}
			return []message{{"user", "Bad JSON. Did you mean " + call + "?"}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := rewrite(played(t, "honest native"), func(s string) string { return s })
			n := 0
			eachReply(tr, func(int, int) bool { return false }, func(reply *arena.ProxyCall) bool {
				call := "find_product(q='none')"
				if next := nextSent(tr, reply.AtMS); next != nil {
					call = next.Path[strings.LastIndexByte(next.Path, '/')+1:] + "(" + string(next.Params) + ")"
				}
				reply.Body = promptOf(c.prompt(n, call))
				n++
				return true
			})
			s := verdictOf(t, tr)
			if got := s.Axis == arena.AxisScripted; got != c.scripted {
				t.Errorf("the axis is %s, reasons %v", s.Axis, s.Reasons)
			}
			if got := slices.Contains(s.Reasons, "dictated_calls"); got != c.scripted {
				t.Errorf("reasons %v", s.Reasons)
			}
		})
	}
}

type message struct{ role, content string }

func promptOf(messages []message) arena.Raw {
	var list []map[string]string
	for _, m := range messages {
		list = append(list, map[string]string{"role": m.role, "content": m.content})
	}
	out, _ := json.Marshal(map[string]any{"model": "m", "messages": list})
	return arena.Raw(out)
}

// nextSent returns the first request to the shop after a time.
func nextSent(tr *arena.Trace, after int64) *arena.ProxyCall {
	var next *arena.ProxyCall
	for i := range tr.Steps {
		for j := range tr.Steps[i].Proxy {
			c := &tr.Steps[i].Proxy[j]
			isEarlier := next == nil || c.AtMS < next.AtMS
			if !strings.HasSuffix(c.Path, "completions") && c.AtMS > after && isEarlier {
				next = c
			}
		}
	}
	return next
}

func verdictOf(t *testing.T, tr *arena.Trace) arena.Structure {
	t.Helper()
	f := newFilter(t)
	d := filters.Normalise(tr)
	s, _ := f.Check(tr, &d)
	return s
}

// TestPinnedRange checks that narrow bounds around a price which no result had shown are the
// program's. Bounds of the request, bounds around a shown price, and wide bounds are not.
func TestPinnedRange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query, price, result string
		pinned               bool
	}{
		"around an unknown price": {"a lamp above 100 PHP", "310-328", "", true},
		"the request's bounds":    {"a lamp from 310 to 328 PHP", "310-328", "", false},
		"a number of the request": {"a lamp of about 320 PHP", "310-328", "", false},
		"around a shown price":    {"a lamp above 100 PHP", "310-328", `[{"product_id":"8689528976","price":319.58}]`, false},
		"wide":                    {"a lamp", "100-400", "", false},
		"one bound":               {"a lamp", "272-", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := []writtenCall{
				{"find_product", []string{"q"}, map[string]any{"q": "lamp"}},
				{"find_product", []string{"q", "price"}, map[string]any{"q": "red lamp", "price": c.price}},
			}
			tr := formTrace("pinned", 0, calls, calls)
			tr.Query = c.query
			tr.Steps[0].Proxy[1].Response = arena.Raw("[]")
			if c.result != "" {
				tr.Steps[0].Proxy[1].Response = arena.Raw(c.result)
			}
			tr.Steps[0].Calls[0].Result = tr.Steps[0].Proxy[1].Response
			s := verdictOf(t, tr)
			if got := slices.Contains(s.Reasons, "pinned_range"); got != c.pinned {
				t.Errorf("the axis is %s, reasons %v", s.Axis, s.Reasons)
			}
		})
	}
}

// TestExplanationQuotesTheNewestReply checks the explanation of a request that no reply named: it
// quotes the newest reply before the request, with those words of the request that the reply holds.
func TestExplanationQuotesTheNewestReply(t *testing.T) {
	t.Parallel()
	calls := []writtenCall{{"find_product", []string{"q"}, map[string]any{"q": "lamp"}}}
	tr := formTrace("quote", 0, calls, calls)
	tr.Steps[0].Proxy[0].Response = `{"choices":[{"message":{"role":"assistant","content":"I would look at a lamp first."}}]}`
	f := newFilter(t)
	d := filters.Normalise(tr)
	rows := f.Explain(tr, &d).Rows
	if len(rows) != 1 || rows[0].Newest != 1 {
		t.Fatalf("rows are %+v", rows)
	}
	got := ""
	for _, p := range rows[0].Passages {
		if p.Found {
			got += fmt.Sprintf("[%s]", p.Text)
		} else {
			got += p.Text
		}
	}
	if want := "I would look at a [lamp] first."; got != want {
		t.Errorf("the reply is quoted as %q, want %q", got, want)
	}
}
