package formats

import (
	"cmp"
	"strings"

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
	a.request = cmp.Or(r.textOf(doc, "query"), a.request)
	a.Tools = cmp.Or(toolDefinitions(doc.get("tools")), a.Tools)
	if doc.has("ledger_format") {
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
	a.Family = r.textOf(doc, "family")
	a.request = r.textOf(doc, "query")

	v := r.readVerdict(doc, doc)
	v.correct = doc.number("passed")
	v.Category = r.textOf(doc, "failure_category")
	if doc.string("termination_code") == "infrastructure_error" {
		v.environmentFailed = true
	}
	r.readTurns(doc.get("interaction"), r.readFeedbackTurn)
}

// readEpisodeFields adds an attempt, and reads into it the fields of an episode other than its
// steps: ids, request, tools, time and verdict.
func (r *reader) readEpisodeFields(episode *value) {
	a := r.begin("")
	a.hasRequest = true
	a.RunID = episode.id("evaluation_run_id")
	a.ProblemID = episode.id("task_id")
	a.Session = episode.id("session_id")
	a.Agent.VersionID = episode.id("agent_version_id")
	a.Agent.Suite = episode.id("pack_sha256")
	a.Family = r.textOf(episode, "family")
	view := episode.object("bootstrap").object("policy_view")
	a.request = r.textOf(view, "query")
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
			Name:      r.textOf(action, "name"),
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

// readFeedbackTurn reads one element of the list interaction in the feedback on an episode: the
// agent's calls with their results, the agent's message, and the simulated customer's message after
// it. A call without a result gets its error code as the result.
func (r *reader) readFeedbackTurn(turn *value) {
	step := arena.Step{Response: r.textOf(turn, "message")}
	setIfPresent(&step.Number, turn.count("turn"))
	r.each(turn.get("calls"), func(v *value) {
		call := arena.ToolCall{
			ID:        v.id("call_id"),
			Name:      r.textOf(v, "tool_name"),
			Arguments: v.get("args").raw(),
			Result:    v.get("observation").raw(),
		}
		code := r.textOf(v, "error_code")
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

// verdict is the outcome of an episode (an attempt in an environment) according to its verifier.
// The three major versions of the program that runs episodes, and the public feedback, write it
// under different names.
type verdict struct {
	arena.Ruling
	// present reports whether the document has a verdict.
	present bool
	// environmentFailed and verifierFailed report whether the session recorded an error of the
	// environment or of the verifier.
	environmentFailed, verifierFailed bool
	// correct is 1 if the result is correct and 0 if not, independent of the paid reward. It is
	// nil if unknown.
	correct *float64
	// finishReason is the reason in the ledger (log) for which the episode finished.
	finishReason string
}

// readEpisodeVerdict reads the verdict of an episode into the current attempt: score, correctness,
// category, flags, and the names of the checks that passed and of those that failed. Checks whose
// value is not a boolean are skipped.
func (r *reader) readEpisodeVerdict(episode *value) {
	fields := episode.object("verdict")
	v := r.readVerdict(episode, fields)
	v.present = episode.get("verdict").isObject()
	v.correct = fields.number("correct")
	v.Category = r.textOf(fields, "category")
	r.each(fields.get("flags"), func(flag *value) {
		v.Flags = append(v.Flags, r.text(flag))
	})

	checks := fields.object("checks")
	for _, name := range checks.names() {
		check := checks.get(name)
		if check.isTrue() {
			v.Passed = append(v.Passed, name)
		} else if check.isBool() {
			v.Failed = append(v.Failed, name)
		}
	}
}

// readVerdict reads the score from fields, and the ending and the errors from session, into the
// verdict of the current attempt. It returns that verdict.
func (r *reader) readVerdict(session, fields *value) *verdict {
	v := &r.attempt().verdict
	v.Score = fields.number("paid_reward", "score")
	v.Ending = r.textOf(session, "outcome")
	v.environmentFailed = isError(session.get("environment_error"))
	v.verifierFailed = isError(session.get("verifier_error"))
	return v
}

// isError reports whether v records an error: it is true, a string or an object. An error counts as
// read, with all its parts.
func isError(v *value) bool {
	isError := v.isTrue() || v.isString() || v.isObject()
	if isError {
		v.raw()
	}
	return isError
}

// Vetoes (reasons not to train on a trace) that follow from the outcome of an episode.
const (
	vetoEnvironment = "environment_error"     // the environment failed during the episode: it is no attempt
	vetoVerifier    = "verifier_error"        // the verifier failed on the episode: it is no attempt
	vetoWorld       = "world_error"           // the grader of the pack gave no grade that counts
	vetoDefect      = "possible_world_defect" // the pack's own code broke off the episode
	vetoLeakage     = "leakage"               // the session found that the agent was told the answer
	vetoExploit     = "exploit"               // the session found that the agent cheated
	vetoLedger      = "ledger_mismatch"       // the ledger is not the one that the verdict names
)

// agentError is the outcome that is recorded for an episode in which the agent's program failed.
const agentError = "agent_error"

// applyVerdict sets the ruling, reward and status of the trace from the verdict, and adds the
// vetoes (reasons not to train) that follow from it. It does nothing if the document has no
// outcome.
func (a *Attempt) applyVerdict() {
	v := &a.verdict
	if v.isEmpty() {
		return
	}
	v.Category = strings.ReplaceAll(v.Category, " ", "_")
	v.resolve()
	a.Ruling = new(v.Ruling)
	a.Declared = v.Score
	if v.Ending == agentError {
		a.Status = arena.StatusFailed
	}
	for _, reason := range append([]string{v.Void, v.Ending}, v.Flags...) {
		switch reason {
		case vetoEnvironment, vetoVerifier, vetoWorld, vetoDefect, vetoLeakage, vetoExploit:
			a.Veto(reason)
		}
	}
}

func (v *verdict) isEmpty() bool {
	hasFlag := v.present || v.environmentFailed || v.verifierFailed
	hasReason := v.Ending != "" || v.finishReason != ""
	return !hasFlag && !hasReason && v.Score == nil && v.correct == nil
}

// resolve sets the final score, from 0 to 1, and Success; or it sets Void, the reason why the
// episode has no score. An incorrect result has the score 0. So has an agent that failed without a
// score, as the subnet counts it. A verdict with neither a valid score nor a reason counts as a
// failure of the verifier.
func (v *verdict) resolve() {
	switch {
	case v.isEnvironmentFailure():
		v.Void = vetoEnvironment
	case v.verifierFailed, v.Ending == vetoVerifier:
		v.Void = vetoVerifier
	case v.correct != nil && *v.correct == 0, v.Ending == agentError && v.Score == nil:
		v.Score = new(0.0)
	case v.Score == nil:
		v.Score = v.correct
	}
	if v.Void != "" {
		v.Score = nil
	}
	if v.Score != nil && (*v.Score < 0 || *v.Score > 1) {
		v.Score = nil
	}
	v.Success = v.isSuccess()
	if v.Score == nil && v.Void == "" && v.present {
		v.Void = vetoVerifier
	}
	v.Ending = cmp.Or(v.Ending, v.finishReason)
}

func (v *verdict) isEnvironmentFailure() bool {
	if v.environmentFailed || v.Ending == vetoEnvironment || v.finishReason == "environment" {
		return true
	}
	return v.Category == "environment_fault" || v.Category == "infrastructure"
}

// isSuccess reports whether the score is positive and the result is recorded as correct. If the
// verdict does not record correctness, the score must be 1. So a correct result may still be no
// success: an agent that did not notice that the world changed has the score 0.
func (v *verdict) isSuccess() bool {
	if v.Score == nil || *v.Score <= 0 {
		return false
	}
	if v.correct != nil {
		return *v.correct == 1
	}
	return *v.Score == 1
}
