package filters_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// rewrite applies change to every text of a trace that could hold words, ids
// or JSON.
func rewrite(tr *arena.Trace, change func(string) string) *arena.Trace {
	c := *tr
	c.Query = change(tr.Query)
	c.Steps = append([]arena.Step(nil), tr.Steps...)
	raw := func(r arena.Raw) arena.Raw { return arena.Raw(change(string(r))) }
	for i := range c.Steps {
		s := &c.Steps[i]
		s.Think, s.Response, s.Content = change(s.Think), change(s.Response), change(s.Content)
		s.Calls = append([]arena.ToolCall(nil), s.Calls...)
		for j := range s.Calls {
			s.Calls[j].Arguments, s.Calls[j].Result = raw(s.Calls[j].Arguments), raw(s.Calls[j].Result)
		}
		s.Proxy = append([]arena.ProxyCall(nil), s.Proxy...)
		for j := range s.Proxy {
			s.Proxy[j].Params, s.Proxy[j].Response = raw(s.Proxy[j].Params), raw(s.Proxy[j].Response)
		}
	}
	return &c
}

// thoughts finds thinking inside of a logged reply.
var thoughts = regexp.MustCompile(`(\\u003cthink\\u003e)(.*?)(\\u003c/think\\u003e)`)

func rethink(tr *arena.Trace, change func(string) string) *arena.Trace {
	c := rewrite(tr, func(s string) string {
		return thoughts.ReplaceAllStringFunc(s, func(m string) string {
			parts := thoughts.FindStringSubmatch(m)
			return parts[1] + change(parts[2]) + parts[3]
		})
	})
	for i := range c.Steps {
		c.Steps[i].Think = change(c.Steps[i].Think)
	}
	return c
}

var (
	longIDs = regexp.MustCompile(`\b\d{10}\b`)
	prices  = regexp.MustCompile(`"price": (\d+\.\d\d)`)
)

// reorder writes JSON objects with their keys in the other order.
func reorder(s string) string {
	if !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") {
		return s
	}
	var v any
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return s
	}
	return backwards(v)
}

func backwards(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var keys, parts []string
		for k := range v {
			keys = append(keys, k)
		}
		sort.Sort(sort.Reverse(sort.StringSlice(keys)))
		for _, k := range keys {
			name, _ := json.Marshal(k)
			parts = append(parts, string(name)+":"+backwards(v[k]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, backwards(x))
		}
		return "[" + strings.Join(parts, ",") + "]"
	default:
		text, _ := json.Marshal(v)
		return string(text)
	}
}

func shift(tr *arena.Trace, ms int64) *arena.Trace {
	c := rewrite(tr, func(s string) string { return s })
	for i := range c.Steps {
		var millis int64
		fmt.Sscan(string(c.Steps[i].Timestamp), &millis)
		c.Steps[i].Timestamp = arena.Raw(fmt.Sprint(millis + ms))
		for j := range c.Steps[i].Proxy {
			c.Steps[i].Proxy[j].AtMS += ms
		}
	}
	return c
}

// changes are what must not move a verdict.
var changes = map[string]func(*arena.Trace) *arena.Trace{
	"thinking in another language": func(tr *arena.Trace) *arena.Trace {
		return rethink(tr, func(s string) string { return strings.Repeat("ฉันคิดว่าดี ", 1+len(s)/12) })
	},
	"thinking cut short": func(tr *arena.Trace) *arena.Trace {
		return rethink(tr, func(s string) string { return s[:min(len(s), 5)] })
	},
	"tools by other names in prose": func(tr *arena.Trace) *arena.Trace {
		return rethink(tr, func(s string) string { return "I use the search function. " + strings.ReplaceAll(s, "Search", "Look") })
	},
	"another agent": func(tr *arena.Trace) *arena.Trace {
		c := *tr
		c.Agent.VersionID = "other"
		c.Agent.Hotkey = "5Other"
		c.Model = "another/model"
		return &c
	},
	"other ids": func(tr *arena.Trace) *arena.Trace {
		return rewrite(tr, func(s string) string {
			return longIDs.ReplaceAllStringFunc(s, func(id string) string { return "7" + id[5:] + id[1:5] })
		})
	},
	"other prices": func(tr *arena.Trace) *arena.Trace {
		return rewrite(tr, func(s string) string {
			return prices.ReplaceAllStringFunc(s, func(m string) string { return m[:len(m)-1] + "7" })
		})
	},
	"keys in another order": func(tr *arena.Trace) *arena.Trace { return rewrite(tr, reorder) },
	"bodies kept as text": func(tr *arena.Trace) *arena.Trace {
		c := rewrite(tr, func(s string) string { return s })
		for i := range c.Steps {
			for j := range c.Steps[i].Proxy {
				if p := &c.Steps[i].Proxy[j]; p.Response != "" {
					text, _ := json.Marshal(string(p.Response))
					p.Response = arena.Raw(text)
				}
			}
		}
		return c
	},
	"another time zone": func(tr *arena.Trace) *arena.Trace { return shift(tr, 9*3600*1000) },
}

// bound lists the changes that make a family's log ambiguous: the log was cut at a length of the
// original text, holds ids after an escaped tag, which the change of ids does not find, or has the
// sent call in thoughts alone.
var bound = map[string][]string{
	"honest all replies cut":     slices.Collect(maps.Keys(changes)),
	"honest client cuts results": {"other prices"},
	"honest commands in tags":    {"other ids"},

	"opens by itself what is spoken of": {"thinking cut short", "thinking in another language"},
}

// TestVerdictsDoNotMove holds for every family that changes which are irrelevant to authorship,
// except those in bound, alter neither the axis, nor whether the attempt is kept, nor the checks
// that drop it. Without the tag long it applies every second change.
func TestVerdictsDoNotMove(t *testing.T) {
	t.Parallel()
	f := newFilter(t)
	for i, a := range setOn {
		tr := played(t, a.name)
		want := judged(f, tr)
		for k, name := range slices.Sorted(maps.Keys(changes)) {
			if slices.Contains(bound[a.name], name) || (i+k)%longtest.Pick(1, 2) > 0 {
				continue
			}
			got := judged(f, changes[name](tr))
			if want != got {
				t.Errorf("%s: %s moves the verdict from %s to %s", a.name, name, want, got)
			}
		}
	}
}

// judged is all of a verdict that may not move.
func judged(f *filters.Filter, tr *arena.Trace) string {
	d := filters.Normalise(tr)
	s, _ := f.Check(tr, &d)
	var fired []string
	for _, v := range s.Verdicts {
		if v.Decision == arena.Drop {
			fired = append(fired, v.Check)
		}
	}
	return fmt.Sprint(s.Axis, s.Keep, fired)
}

// TestDialectDoesNotMove holds that the same play has the same axis in every dialect.
func TestDialectDoesNotMove(t *testing.T) {
	t.Parallel()
	f := newFilter(t)
	for _, s := range []string{"list", "native", "hermes", "react", "fenced", "reasoning", "careless", "legacy"} {
		for _, a := range []agent{{"honest", days{}, true, style(s), honest(turnPlain, talks)}, {"override", days{}, false, style(s), program(turnOverride)}} {
			w := newWorld(11)
			r := &recorder{w: w, task: w.task(0), now: start, limit: 4000}
			a.setUp(r)
			a.play(r)
			tr := r.trace("agent")
			d := filters.Normalise(tr)
			got, _ := f.Check(tr, &d)
			if (got.Axis == arena.AxisAgentic) != a.agentic {
				t.Errorf("%s in %s: axis %s", a.name, s, got.Axis)
			}
		}
	}
}

// TestNamingMoves holds that an honest attempt is scripted if the model's naming is removed, and is
// not agentic if the naming is logged only after the dispatch: by a different clock, or as an echo.
func TestNamingMoves(t *testing.T) {
	t.Parallel()
	f := newFilter(t)
	for _, a := range setOn {
		if !a.agentic || a.name == "honest cut log" {
			continue
		}
		tr := played(t, a.name)
		for name, change := range map[string]func(*arena.ProxyCall){
			"dropped": func(c *arena.ProxyCall) {
				c.Response = `{"id": "", "choices": [{"message": {"role": "assistant", "content": "Fine."}}]}`
				c.Truncated = false
			},
			"logged late": func(c *arena.ProxyCall) { c.AtMS += 3600 * 1000 },
		} {
			c := rewrite(tr, func(s string) string { return s })
			for i := range c.Steps {
				for j := range c.Steps[i].Proxy {
					if p := &c.Steps[i].Proxy[j]; strings.HasSuffix(p.Path, "completions") {
						change(p)
					}
				}
			}
			d := filters.Normalise(c)
			if s, _ := f.Check(c, &d); s.Axis == arena.AxisAgentic || name == "dropped" && s.Axis == arena.AxisUnknown {
				t.Errorf("%s, naming %s: axis %s", a.name, name, s.Axis)
			}
		}
	}
}

// TestTimesMayBeMissing holds that a log without times is read in its own order, and that the axis
// of nearly every family remains. Only the evidence of times is lost.
func TestTimesMayBeMissing(t *testing.T) {
	t.Parallel()
	f := newFilter(t)
	for _, a := range setOn {
		if a.name == "replies written afterwards" || a.name == "names too late" {
			continue // only times prove the first; another clock may explain the second
		}
		tr := rewrite(played(t, a.name), func(s string) string { return s })
		want := axisOf(f, tr)
		for i := range tr.Steps {
			tr.Steps[i].Timestamp = ""
			for j := range tr.Steps[i].Proxy {
				tr.Steps[i].Proxy[j].AtMS = 0
			}
		}
		if got := axisOf(f, tr); got != want {
			t.Errorf("%s: axis %s without times, %s with them", a.name, got, want)
		}
	}
}

// TestSilentLogIsUnknown checks that attempts which asked models are unknown if the log holds no
// inference.
func TestSilentLogIsUnknown(t *testing.T) {
	t.Parallel()
	f := newFilter(t)
	for _, family := range []string{"honest plain", "narrates"} {
		tr := rewrite(played(t, family), func(s string) string { return s })
		for i := range tr.Steps {
			var calls []arena.ProxyCall
			for _, p := range tr.Steps[i].Proxy {
				if !strings.HasSuffix(p.Path, "completions") {
					calls = append(calls, p)
				}
			}
			tr.Steps[i].Proxy = calls
		}
		if got := axisOf(f, tr); got != arena.AxisUnknown {
			t.Errorf("%s: axis %s", family, got)
		}
	}
}

func axisOf(f *filters.Filter, tr *arena.Trace) arena.Axis {
	d := filters.Normalise(tr)
	s, _ := f.Check(tr, &d)
	return s.Axis
}
