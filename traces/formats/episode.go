package formats

import (
	"cmp"

	"github.com/trajectory-arena/arena"
)

// The records of environment packs, which package traces recognises by their schema or
// keys. The readers skip the prompts of the simulated shopper, which hold the answer, and
// the explanation of the verdict.
var (
	// Episode is an oro.environment_episode.v1: the calls of call_trace with the results
	// of the environment, and the transcript of the agent's inference calls.
	Episode = Format{Name: "episode", Typed: true, read: readEpisode}
	// Ledger is the log (ledger) of an episode as the runtimes write it, with or without its
	// verdict. The document may also have fields of an episode: query, tools, family,
	// agent_version_id.
	Ledger = Format{Name: "ledger", Typed: true, read: readLedger}
	// Feedback is an oro.episode_feedback.v1 of the public API: the agent's calls and messages,
	// and the paid reward. It has no inference calls, so the author of the calls is unknown.
	Feedback = Format{Name: "feedback", Typed: true, read: readFeedback}
)

func readEpisode(r *reader, doc *value) {
	episode := doc.object("episode")
	r.readEpisodeFields(episode)
	r.readTurns(episode.get("call_trace"), r.readTraceTurn)
	r.readLedgerOf(episode)
	if calls := doc.object("inference_transcript").get("calls"); calls.isArray() {
		r.attempt().Transcript = calls.raw()
	}
}

func readLedger(r *reader, doc *value) {
	r.readEpisodeFields(doc)
	a := r.attempt()
	a.request = cmp.Or(r.text(doc.get("query")), a.request)
	a.Tools = cmp.Or(toolDefinitions(doc.get("tools")), a.Tools)
	if doc.get("ledger_format").exists() {
		r.readWorldLedger(doc, doc.object("verdict"))
	} else {
		r.readLedgerOf(doc)
	}
}

func readFeedback(r *reader, doc *value) {
	a := r.begin("")
	a.hasRequest = true
	a.Session = doc.id("episode_result_id")
	a.ProblemID = doc.id("task_id")
	a.Family = r.text(doc.get("family"))
	a.request = r.text(doc.get("query"))

	v := r.readVerdict(doc, doc)
	v.correct = doc.number("passed")
	v.Category = r.text(doc.get("failure_category"))
	if doc.get("termination_code").str() == "infrastructure_error" {
		v.environmentFailed = true
	}
	r.readTurns(doc.get("interaction"), r.readFeedbackTurn)
}

// readEpisodeFields adds an attempt with the fields of an episode other than its steps: ids,
// request, tools, time and verdict.
func (r *reader) readEpisodeFields(episode *value) {
	a := r.begin("")
	a.hasRequest = true
	a.RunID = episode.id("evaluation_run_id")
	a.ProblemID = episode.id("task_id")
	a.Session = episode.id("session_id")
	a.Agent.VersionID = episode.id("agent_version_id")
	a.Agent.Suite = episode.id("pack_sha256")
	a.Family = r.text(episode.get("family"))
	view := episode.object("bootstrap").object("policy_view")
	a.request = r.text(view.get("query"))
	a.Tools = toolDefinitions(view.get("tools"))
	setIfPresent(&a.Seconds, episode.number("wall_seconds"))
	r.readEpisodeVerdict(episode)
}

// readTurns calls readTurn for each element of a list of steps. If the value is no list, it
// records that the attempt has no dialogue.
func (r *reader) readTurns(list *value, readTurn func(*value)) {
	r.attempt().hasDialogue = new(list.isArray())
	if list.isArray() {
		r.each(list, func(v *value) {
			readTurn(v)
		})
	}
}

// readTraceTurn reads one element of an episode's call_trace: the agent's calls, their results,
// and the simulated customer's message after them.
func (r *reader) readTraceTurn(turn *value) {
	request := turn.object("request")
	response := turn.object("response")

	var step arena.Step
	setIfPresent(&step.Number, request.count("turn"))
	r.each(request.get("calls"), func(v *value) {
		action := v.object("action")
		step.Calls = append(step.Calls, arena.ToolCall{
			ID:        v.id("call_id"),
			Name:      r.text(action.get("name")),
			Arguments: action.get("args").raw(),
		})
	})
	r.addStep(step)

	r.each(response.get("calls"), func(v *value) {
		r.addResult(v.id("call_id"), v.get("observation").raw())
	})
	reply := response.get("user_message")
	if reply.isObject() {
		reply = reply.get("content")
	}
	r.addCustomerMessage(reply)
}

// readFeedbackTurn reads one element of a feedback's interaction: the agent's calls with their
// results, the agent's message, and the simulated customer's message after it. A call without a
// result gets its error code as the result.
func (r *reader) readFeedbackTurn(turn *value) {
	step := arena.Step{Response: r.text(turn.get("message"))}
	setIfPresent(&step.Number, turn.count("turn"))
	r.each(turn.get("calls"), func(v *value) {
		call := arena.ToolCall{
			ID:        v.id("call_id"),
			Name:      r.text(v.get("tool_name")),
			Arguments: v.get("args").raw(),
			Result:    v.get("observation").raw(),
		}
		code := r.text(v.get("error_code"))
		if code != "" && call.Result.Kind() <= arena.Null {
			call.Result = `{"error":` + arena.Quote(code) + `}`
		}
		step.Calls = append(step.Calls, call)
	})
	if len(step.Calls) > 0 || step.Response != "" {
		r.addStep(step)
	}
	r.addCustomerMessage(turn.get("shopper_message"))
}

func (r *reader) addCustomerMessage(v *value) {
	if text := r.text(v); text != "" {
		r.addText(userRole, text)
	}
}
