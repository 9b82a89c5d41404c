package traces

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/traces/cold"
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

// Vetoes of episodes that tell nothing of their agent, or too much.
const (
	vetoEnvironment = "environment_error"     // the environment failed during the episode: it is no attempt
	vetoVerifier    = "verifier_error"        // the verifier failed on the episode: it is no attempt
	vetoWorld       = "world_error"           // the grader of the pack gave no grade that counts
	vetoDefect      = "possible_world_defect" // the pack's own code broke off the episode
	vetoLeakage     = "leakage"               // the session found that the agent was told the answer
	vetoExploit     = "exploit"               // the session found that the agent cheated
	vetoLedger      = "ledger_mismatch"       // the ledger is not the one that the verdict names
	vetoContent     = "content_mismatch"      // the file is not the content that its name is the sha256 of
)

// rule makes the ruling of what an episode says of its outcome, if it says anything,
// and the vetoes that follow from it.
func rule(t *arena.Trace, v *cold.Verdict) {
	if told := v.Given || v.Fault || v.Checker || v.Ending+v.Reason != "" || v.Score != nil || v.Correct != nil; !told {
		return
	}
	v.Category = strings.ReplaceAll(v.Category, " ", "_")
	settle(v)
	r := v.Ruling
	t.Ruling, t.Declared = &r, r.Score
	if r.Ending == "agent_error" {
		t.Status = arena.StatusFailed
	}
	for _, word := range append([]string{r.Void, r.Ending}, r.Flags...) {
		switch word {
		case vetoEnvironment, vetoVerifier, vetoWorld, vetoDefect, vetoLeakage, vetoExploit:
			addVeto(t, word)
		}
	}
}

// settle decides between score, failure and no attempt. An agent that broke off has
// 0, as the subnet counts it; an episode without a score that nobody explains is the
// verifier's.
func settle(v *cold.Verdict) {
	r, zero := &v.Ruling, 0.0
	switch {
	case v.Fault, r.Ending == vetoEnvironment, v.Reason == "environment", r.Category == "environment_fault", r.Category == "infrastructure":
		r.Void = vetoEnvironment
	case v.Checker, r.Ending == vetoVerifier:
		r.Void = vetoVerifier
	case v.Correct != nil && *v.Correct == 0, r.Ending == "agent_error" && r.Score == nil:
		r.Score = &zero
	case r.Score == nil:
		r.Score = v.Correct
	}
	if r.Void != "" {
		r.Score = nil
	}
	if r.Score != nil && (*r.Score < 0 || *r.Score > 1) {
		r.Score = nil
	}
	// All hard checks may pass and nothing be paid: the world changed and the agent did
	// not see it.
	r.Success = r.Score != nil && *r.Score > 0 && (v.Correct != nil && *v.Correct == 1 || v.Correct == nil && *r.Score == 1)
	if r.Score == nil && r.Void == "" && v.Given {
		r.Void = vetoVerifier
	}
	r.Ending = cmp.Or(r.Ending, v.Reason)
}
