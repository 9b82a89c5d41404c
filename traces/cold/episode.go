package cold

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// The records of environment packs, told by their schema or keys in package traces. The
// simulated shopper's own prompts hold the answer and are never read; nor is the
// verdict's explanation.
var (
	// Episode is one oro.environment_episode.v1: the calls of its call_trace with what the
	// environment answered, and the transcript of the agent's inference calls.
	Episode = Format{Name: "episode", Typed: true, read: func(r *reader, top object) {
		e := top.within("episode")
		r.episode(e)
		r.turns(e["call_trace"], r.turn)
		r.ledger(e)
		if asked := top.within("inference_transcript")["calls"]; asked.IsArray() {
			r.attempt().Transcript = arena.Raw(asked.Raw)
		}
	}}
	// Ledger is a ledger with the verdict on it, or a ledger alone, as the runtimes give
	// them out. What neither holds may stand beside them under the names that an episode
	// has: query, tools, family, agent_version_id.
	Ledger = Format{Name: "ledger", Typed: true, read: func(r *reader, top object) {
		r.episode(top)
		a := r.attempt()
		a.request, a.Tools = cmp.Or(r.text(top["query"]), a.request), cmp.Or(Tools(top["tools"]), a.Tools)
		if top["ledger_format"].Exists() {
			r.worldLedger(top, top.within("verdict"))
		} else {
			r.ledger(top)
		}
	}}
	// Feedback is one oro.episode_feedback.v1, which the public API gives out: what the
	// agent saw and did, and what was paid. It holds no inference, so nothing tells who
	// wrote the calls.
	Feedback = Format{Name: "feedback", Typed: true, read: func(r *reader, top object) {
		a := r.begin("")
		a.asked, a.Session, a.ProblemID = true, top.id("episode_result_id"), top.id("task_id")
		a.Family, a.request = r.text(top["family"]), r.text(top["query"])
		v := r.verdict(top, top)
		v.Correct, v.Category = top.number("passed"), r.text(top["failure_category"])
		v.Fault = v.Fault || top["termination_code"].Str == "infrastructure_error"
		r.turns(top["interaction"], r.interaction)
	}}
)

// verdict is what an episode says of its outcome, in the words of three major versions
// of the runtime and of the public feedback.
type verdict struct {
	arena.Ruling
	// Given reports whether there is a verdict, Fault whether the environment failed,
	// Checker whether the verifier did.
	Given, Fault, Checker bool
	// Correct is 1 or 0, whatever was paid for it.
	Correct *float64
	// Reason is the ledger's own of how the episode finished.
	Reason string
}

func (r *reader) episode(e object) {
	a, view := r.begin(""), e.within("bootstrap").within("policy_view")
	a.asked, a.RunID, a.ProblemID, a.Session = true, e.id("evaluation_run_id"), e.id("task_id"), e.id("session_id")
	a.Agent.VersionID, a.Agent.Suite, a.Family = e.id("agent_version_id"), e.id("pack_sha256"), r.text(e["family"])
	a.request, a.Tools = r.text(view["query"]), Tools(view["tools"])
	set(&a.Seconds, e.number("wall_seconds"))
	said := e.within("verdict")
	v := r.verdict(e, said)
	v.Given = e["verdict"].IsObject()
	v.Correct, v.Category = said.number("correct"), r.text(said["category"])
	r.each(said["flags"], func(flag gjson.Result) { v.Flags = append(v.Flags, r.text(flag)) })
	checks := said.within("checks")
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		if check := checks[name]; check.Type == gjson.True {
			v.Passed = append(v.Passed, name)
		} else if check.IsBool() {
			v.Failed = append(v.Failed, name)
		}
	}
}

// verdict reads the score, and what stands beside it of how the session ended.
func (r *reader) verdict(session, said object) *verdict {
	v := &r.attempt().verdict
	v.Score, v.Ending = said.number("paid_reward", "score"), r.text(session["outcome"])
	v.Fault, v.Checker = happened(session["environment_error"]), happened(session["verifier_error"])
	return v
}

// happened takes what a session writes of an error: a flag, or the error itself.
func happened(v gjson.Result) bool {
	return v.Type == gjson.True || v.Type == gjson.String || v.IsObject()
}

// turns reads a list of turns. An attempt without the list has no dialogue.
func (r *reader) turns(list gjson.Result, turn func(object)) {
	r.attempt().dialogue = new(list.IsArray())
	if list.IsArray() {
		r.each(list, func(v gjson.Result) { turn(fields(v)) })
	}
}

// turn takes one turn: its calls, their answers, and what the shopper said after it.
func (r *reader) turn(turn object) {
	asked, answered, step := turn.within("request"), turn.within("response"), arena.Step{}
	set(&step.Number, asked.count("turn"))
	r.each(asked["calls"], func(v gjson.Result) {
		c := fields(v)
		action := c.within("action")
		step.Calls = append(step.Calls, arena.ToolCall{ID: c.id("call_id"), Name: r.text(action["name"]), Arguments: arena.Raw(action["args"].Raw)})
	})
	r.say(message{role: Agent, step: step})
	r.each(answered["calls"], func(v gjson.Result) {
		c := fields(v)
		r.answer(c.id("call_id"), arena.Raw(c["observation"].Raw))
	})
	said := answered["user_message"]
	if said.IsObject() {
		said = said.Get("content")
	}
	r.shopper(said)
}

// interaction takes one step of a feedback: what the agent called and said, and what
// the shopper said then. A call has its answer, or the code of its error.
func (r *reader) interaction(turn object) {
	step := arena.Step{Response: r.text(turn["message"])}
	set(&step.Number, turn.count("turn"))
	r.each(turn["calls"], func(v gjson.Result) {
		c := fields(v)
		call := arena.ToolCall{ID: c.id("call_id"), Name: r.text(c["tool_name"]), Arguments: arena.Raw(c["args"].Raw), Result: arena.Raw(c["observation"].Raw)}
		if failed := r.text(c["error_code"]); failed != "" && call.Result.Kind() <= arena.Null {
			call.Result = `{"error":` + arena.Quote(failed) + `}`
		}
		step.Calls = append(step.Calls, call)
	})
	if len(step.Calls) > 0 || step.Response != "" {
		r.say(message{role: Agent, step: step})
	}
	r.shopper(turn["shopper_message"])
}

func (r *reader) shopper(said gjson.Result) {
	if text := r.text(said); text != "" {
		r.tell(User, text)
	}
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
)

// rule makes the ruling of what an episode says of its outcome, if it says anything,
// and the vetoes that follow from it.
func (a *Attempt) rule() {
	v := &a.verdict
	if told := v.Given || v.Fault || v.Checker || v.Ending+v.Reason != "" || v.Score != nil || v.Correct != nil; !told {
		return
	}
	v.Category = strings.ReplaceAll(v.Category, " ", "_")
	v.settle()
	a.Ruling, a.Declared = new(v.Ruling), v.Score
	if v.Ending == "agent_error" {
		a.Status = arena.StatusFailed
	}
	for _, word := range append([]string{v.Void, v.Ending}, v.Flags...) {
		switch word {
		case vetoEnvironment, vetoVerifier, vetoWorld, vetoDefect, vetoLeakage, vetoExploit:
			a.Veto(word)
		}
	}
}

// settle decides between score, failure and no attempt. An agent that broke off has
// 0, as the subnet counts it; an episode without a score that nobody explains is the
// verifier's.
func (v *verdict) settle() {
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
