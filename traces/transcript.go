package traces

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// assignInferences assigns the model calls of an episode to the agent's steps, as proxy calls. The
// calls have no time, so they are matched by tools: a step gets all calls up to the first whose
// response names one of its tools, and the text of that response. Then the step's own tool calls
// follow. The last agent step also gets the remaining model calls.
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

// setReply sets the text and the reasoning of a step to those of the model's response, which is
// a chat completion of OpenAI's API.
func setReply(s *arena.Step, response arena.Raw) {
	message := gjson.Get(response.Text(), "choices.0.message")
	s.Content = message.Get("content").Str
	s.Reasoning = cmp.Or(message.Get("reasoning_content").Str, message.Get("reasoning").Str)
}

// dispatchOf converts a tool call to a request in the log of a proxy (the record of what an agent's
// program really sent). It is as good evidence as if a proxy had recorded it, because the runtime
// of the episode executed the call.
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

// countUntilNamed returns how many model calls there are up to and including the first whose
// response names one of the tools in calls. It returns 0 if there is no such response.
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
