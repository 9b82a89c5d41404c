package cold

import (
	"cmp"
	"maps"
	"slices"

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
		a.Request, a.Tools = cmp.Or(r.text(top["query"]), a.Request), cmp.Or(Tools(top["tools"]), a.Tools)
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
		a.Asked, a.Session, a.Problem = true, top.id("episode_result_id"), top.id("task_id")
		a.Family, a.Request = r.text(top["family"]), r.text(top["query"])
		v := r.verdict(top, top)
		v.Correct, v.Category = top.number("passed"), r.text(top["failure_category"])
		v.Fault = v.Fault || top["termination_code"].Str == "infrastructure_error"
		r.turns(top["interaction"], r.interaction)
	}}
)

// Verdict is what an episode says of its outcome, in the words of three major versions
// of the runtime and of the public feedback.
type Verdict struct {
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
	a.Asked, a.Run, a.Problem, a.Session = true, e.id("evaluation_run_id"), e.id("task_id"), e.id("session_id")
	a.Agent.VersionID, a.Agent.Suite, a.Family = e.id("agent_version_id"), e.id("pack_sha256"), r.text(e["family"])
	a.Request, a.Tools, a.Seconds = r.text(view["query"]), Tools(view["tools"]), e.number("wall_seconds")
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
func (r *reader) verdict(session, said object) *Verdict {
	v := &r.attempt().Verdict
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
	r.attempt().Dialogue = new(list.IsArray())
	if list.IsArray() {
		r.each(list, func(v gjson.Result) { turn(fields(v)) })
	}
}

// turn takes one turn: its calls, their answers, and what the shopper said after it.
func (r *reader) turn(turn object) {
	asked, answered, step := turn.within("request"), turn.within("response"), arena.Step{}
	if n := asked.count("turn"); n != nil {
		step.Number = *n
	}
	r.each(asked["calls"], func(v gjson.Result) {
		c := fields(v)
		action := c.within("action")
		step.Calls = append(step.Calls, arena.ToolCall{ID: c.id("call_id"), Name: r.text(action["name"]), Arguments: arena.Raw(action["args"].Raw)})
	})
	r.say(Message{Role: Agent, Step: step})
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
	if n := turn.count("turn"); n != nil {
		step.Number = *n
	}
	r.each(turn["calls"], func(v gjson.Result) {
		c := fields(v)
		call := arena.ToolCall{ID: c.id("call_id"), Name: r.text(c["tool_name"]), Arguments: arena.Raw(c["args"].Raw), Result: arena.Raw(c["observation"].Raw)}
		if failed := r.text(c["error_code"]); failed != "" && call.Result.Kind() <= arena.Null {
			call.Result = `{"error":` + arena.Quote(failed) + `}`
		}
		step.Calls = append(step.Calls, call)
	})
	if len(step.Calls) > 0 || step.Response != "" {
		r.say(Message{Role: Agent, Step: step})
	}
	r.shopper(turn["shopper_message"])
}

func (r *reader) shopper(said gjson.Result) {
	if text := r.text(said); text != "" {
		r.tell(User, text)
	}
}
