package traces

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// assignInferences adds inference calls to the proxy calls of the agent's turns, each
// followed by the tool calls of the turn. Inference calls have no time. A turn therefore
// has the calls up to the next one whose response names one of its tools, and the text of
// that response. Calls without a turn are added to the last turn.
func assignInferences(t *arena.Trace, inferences []arena.ProxyCall) {
	t.Source.HasProxyLog = true
	t.InferenceTotal = len(inferences)
	last := 0
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Role != arena.RoleAgent {
			continue
		}
		if n := countUntilNamed(inferences, s.Calls); n > 0 {
			s.Proxy = inferences[:n:n]
			inferences = inferences[n:]
			setReply(s, s.Proxy[n-1].Response)
		}
		for _, call := range s.Calls {
			s.Proxy = append(s.Proxy, dispatchOf(call))
		}
		last = i
	}
	if len(t.Steps) > 0 {
		t.Steps[last].Proxy = append(t.Steps[last].Proxy, inferences...)
	}
}

// setReply sets the text and the reasoning of a turn to those of the model's response.
func setReply(s *arena.Step, response arena.Raw) {
	message := gjson.Get(response.Text(), "choices.0.message")
	s.Content = message.Get("content").Str
	s.Reasoning = cmp.Or(message.Get("reasoning_content").Str, message.Get("reasoning").Str)
}

// dispatchOf returns a tool call as the proxy would record it: the session saw the call.
func dispatchOf(call arena.ToolCall) arena.ProxyCall {
	return arena.ProxyCall{
		Method:   "POST",
		Path:     "/" + call.Name,
		Status:   200,
		Body:     call.Arguments,
		Response: call.Result,
		Length:   -1,
	}
}

// countUntilNamed returns the number of inference calls up to the first whose response
// names one of the tools in calls, or 0 if none does.
func countUntilNamed(inferences []arena.ProxyCall, calls []arena.ToolCall) int {
	for i := range inferences {
		response := string(inferences[i].Response)
		for j := range calls {
			if calls[j].Name != "" && strings.Contains(response, calls[j].Name) {
				return i + 1
			}
		}
	}
	return 0
}
