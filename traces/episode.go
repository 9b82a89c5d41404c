package traces

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// transcript files the inference calls of an episode under its turns.
func (d *decoder) transcript(t *arena.Trace, list arena.Raw) error {
	if list == "" {
		return nil
	}
	inner := d.within(string(list))
	inner.c.Array(inner.proxyCall)
	attribute(t, inner.parts.proxy)
	return d.leave(inner)
}

// attribute files the inferences under the turns and the turns' calls after them:
// the session saw each call, so it is a dispatch. Calls have no time, so a turn gets
// the inferences up to the next that names one of its tools, and what that one says.
func attribute(t *arena.Trace, asked []arena.ProxyCall) {
	t.Source.HasProxyLog, t.InferenceTotal = true, len(asked)
	last := 0
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Role != arena.RoleAgent {
			continue
		}
		if n := naming(asked, s.Calls); n > 0 {
			s.Proxy, asked = asked[:n:n], asked[n:]
			quoteReply(s)
		}
		for _, call := range s.Calls {
			s.Proxy = append(s.Proxy, arena.ProxyCall{Method: "POST", Path: "/" + call.Name, Status: 200, Body: call.Arguments, Response: call.Result, Length: -1})
		}
		last = i
	}
	if len(t.Steps) > 0 {
		t.Steps[last].Proxy = append(t.Steps[last].Proxy, asked...)
	}
}

// naming is how many inferences there are up to the first that names one of the
// calls; 0 where none does.
func naming(asked []arena.ProxyCall, calls []arena.ToolCall) int {
	for i := range asked {
		for j := range calls {
			if calls[j].Name != "" && strings.Contains(string(asked[i].Response), calls[j].Name) {
				return i + 1
			}
		}
	}
	return 0
}

// quoteReply gives a turn what the last inference filed under it said.
func quoteReply(s *arena.Step) {
	body := s.Proxy[len(s.Proxy)-1].Response.Text()
	said := gjson.Get(body, "choices.0.message")
	s.Content = said.Get("content").Str
	s.Reasoning = cmp.Or(said.Get("reasoning_content").Str, said.Get("reasoning").Str)
}
