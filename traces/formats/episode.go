package formats

import (
	"cmp"

	"github.com/tidwall/gjson"

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

func readEpisode(r *reader, doc object) {
	episode := doc.object("episode")
	r.readEpisodeFields(episode)
	r.readTurns(episode["call_trace"], r.readTraceTurn)
	r.readLedgerOf(episode)
	if calls := doc.object("inference_transcript")["calls"]; calls.IsArray() {
		r.attempt().Transcript = arena.Raw(calls.Raw)
	}
}

func readLedger(r *reader, doc object) {
	r.readEpisodeFields(doc)
	a := r.attempt()
	a.request = cmp.Or(r.text(doc["query"]), a.request)
	a.Tools = cmp.Or(toolDefinitions(doc["tools"]), a.Tools)
	if doc["ledger_format"].Exists() {
		r.readWorldLedger(doc, doc.object("verdict"))
	} else {
		r.readLedgerOf(doc)
	}
}

func readFeedback(r *reader, doc object) {
	a := r.begin("")
	a.hasRequest = true
	a.Session = doc.id("episode_result_id")
	a.ProblemID = doc.id("task_id")
	a.Family = r.text(doc["family"])
	a.request = r.text(doc["query"])

	v := r.readVerdict(doc, doc)
	v.correct = doc.number("passed")
	v.Category = r.text(doc["failure_category"])
	if doc["termination_code"].Str == "infrastructure_error" {
		v.environmentFailed = true
	}
	r.readTurns(doc["interaction"], r.readFeedbackTurn)
}

// readEpisodeFields adds an attempt with the fields of an episode other than its steps: ids,
// request, tools, time and verdict.
func (r *reader) readEpisodeFields(episode object) {
	a := r.begin("")
	a.hasRequest = true
	a.RunID = episode.id("evaluation_run_id")
	a.ProblemID = episode.id("task_id")
	a.Session = episode.id("session_id")
	a.Agent.VersionID = episode.id("agent_version_id")
	a.Agent.Suite = episode.id("pack_sha256")
	a.Family = r.text(episode["family"])
	view := episode.object("bootstrap").object("policy_view")
	a.request = r.text(view["query"])
	a.Tools = toolDefinitions(view["tools"])
	setIfPresent(&a.Seconds, episode.number("wall_seconds"))
	r.readEpisodeVerdict(episode)
}

// readTurns calls readTurn for each element of a list of steps. If the value is no list, it
// records that the attempt has no dialogue.
func (r *reader) readTurns(list gjson.Result, readTurn func(object)) {
	r.attempt().hasDialogue = new(list.IsArray())
	if list.IsArray() {
		r.each(list, func(v gjson.Result) {
			readTurn(members(v))
		})
	}
}

// readTraceTurn reads one element of an episode's call_trace: the agent's calls, their results,
// and the simulated shopper's message after them.
func (r *reader) readTraceTurn(turn object) {
	request := turn.object("request")
	response := turn.object("response")

	var step arena.Step
	setIfPresent(&step.Number, request.count("turn"))
	r.each(request["calls"], func(v gjson.Result) {
		c := members(v)
		action := c.object("action")
		step.Calls = append(step.Calls, arena.ToolCall{
			ID:        c.id("call_id"),
			Name:      r.text(action["name"]),
			Arguments: arena.Raw(action["args"].Raw),
		})
	})
	r.addStep(step)

	r.each(response["calls"], func(v gjson.Result) {
		c := members(v)
		r.addResult(c.id("call_id"), arena.Raw(c["observation"].Raw))
	})
	reply := response["user_message"]
	if reply.IsObject() {
		reply = reply.Get("content")
	}
	r.addShopperMessage(reply)
}

// readFeedbackTurn reads one element of a feedback's interaction: the agent's calls with their
// results, the agent's message, and the simulated shopper's message after it. A call without a
// result gets its error code as the result.
func (r *reader) readFeedbackTurn(turn object) {
	step := arena.Step{Response: r.text(turn["message"])}
	setIfPresent(&step.Number, turn.count("turn"))
	r.each(turn["calls"], func(v gjson.Result) {
		c := members(v)
		call := arena.ToolCall{
			ID:        c.id("call_id"),
			Name:      r.text(c["tool_name"]),
			Arguments: arena.Raw(c["args"].Raw),
			Result:    arena.Raw(c["observation"].Raw),
		}
		code := r.text(c["error_code"])
		if code != "" && call.Result.Kind() <= arena.Null {
			call.Result = `{"error":` + arena.Quote(code) + `}`
		}
		step.Calls = append(step.Calls, call)
	})
	if len(step.Calls) > 0 || step.Response != "" {
		r.addStep(step)
	}
	r.addShopperMessage(turn["shopper_message"])
}

func (r *reader) addShopperMessage(v gjson.Result) {
	if text := r.text(v); text != "" {
		r.addText(userRole, text)
	}
}
