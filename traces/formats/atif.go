package formats

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/trajectory-arena/arena"
)

// ATIF is a document of the Agent Trajectory Interchange Format, which package traces
// recognises by its schema. Fields that ATIF lacks are under extra.oro as the subnet
// writes them and under extra.arena as this project does.
var ATIF = Format{Name: "atif", Typed: true, read: readATIF}

func readATIF(r *reader, doc *value) {
	kind := arena.Raw(doc.get("steps").json.Raw).Kind()
	if kind != arena.Array {
		r.err = &NoMessages{Name: "steps", Kind: kind}
		return
	}
	a := r.begin("")
	agent := doc.object("agent")
	doc.get("schema_version").raw() // by which the format was recognised
	a.Session = doc.id("session_id")
	a.Model = r.textOf(agent, "model_name")
	a.Tools = toolDefinitions(agent.get("tool_definitions"))
	r.each(doc.get("steps"), func(v *value) {
		r.readATIFStep(v)
	})

	for _, extra := range []*value{doc.object("final_metrics").object("extra"), doc.object("extra")} {
		r.readATIFExtra(extra.object("oro"))
		r.readATIFExtra(extra.object("arena"))
	}
	if a.hasDialogue == nil && a.Agent.VersionID == "" {
		a.Agent.VersionID = AgentVersion(r.textOf(agent, "name"), agent.id("version"))
	}
}

// AgentVersion returns name@version, or only the name if the version is missing or "unknown". It
// returns "" if the name is missing or "unknown".
func AgentVersion(name, version string) string {
	const unknown = "unknown"
	switch {
	case name == unknown:
		return ""
	case name == "" || version == "" || version == unknown:
		return name
	}
	return name + "@" + version
}

// readATIFExtra reads the fields of a trace for which the format ATIF has no keys from extra, the
// object that the subnet or this project writes under "extra". A field that is present replaces the
// value that was read before; vetoes (reasons not to train) are appended.
func (r *reader) readATIFExtra(extra *value) {
	a := r.attempt()
	a.RunID = cmp.Or(extra.id("eval_run_id"), a.RunID)
	a.ProblemID = cmp.Or(extra.id("problem_id"), a.ProblemID)
	a.ProblemID = cmp.Or(a.ProblemID, extra.id("task_id"))
	a.Agent.VersionID = cmp.Or(extra.id("agent_version_id"), a.Agent.VersionID)
	a.Agent.Hotkey = cmp.Or(extra.id("miner_hotkey"), a.Agent.Hotkey)
	a.Agent.Suite = cmp.Or(extra.id("suite_version"), a.Agent.Suite)
	a.Agent.StartedAt = cmp.Or(extra.id("started_at"), a.Agent.StartedAt)
	a.Declared = cmp.Or(extra.number("reward"), a.Declared)
	setIfPresent(&a.Seconds, extra.number("execution_time"))
	setIfPresent(&a.InferenceTotal, extra.count("inference_total"))
	setIfPresent(&a.InferenceFailures, extra.count("inference_failure_count"))
	a.Error = cmp.Or(r.parseError(extra.get("error")), a.Error)
	a.request = cmp.Or(r.textOf(extra, "query"), a.request)
	switch status := arena.Status(r.textOf(extra, "status")); status {
	case arena.StatusSuccess, arena.StatusFailed, arena.StatusTimedOut:
		dialogue := extra.get("dialogue")
		isNull := dialogue.exists() && !dialogue.isPresent()
		a.Status = status
		a.hasDialogue = new(!isNull)
	}
	r.each(extra.get("vetoes"), func(v *value) {
		a.DeclaredVetoes = append(a.DeclaredVetoes, r.text(v))
	})
}

// readATIFStep adds m, one step of an ATIF document, to the messages of the attempt. Tool results
// in a step of the agent are assigned to the calls of the step by id; results whose id has no call
// follow as messages. In any other step, results become part of the text.
func (r *reader) readATIFStep(m *value) {
	a := r.attempt()
	a.Model = cmp.Or(a.Model, r.textOf(m, "model_name"))
	text := r.content(m.get("message")).text
	results := r.readATIFResults(m.object("observation").get("results"))
	source := r.textOf(m, "source")
	isCopied := m.get("is_copied_context").isTrue()
	if source != "agent" {
		r.addATIFText(source, text, results)
		return
	}

	a.hasCopiedContext = a.hasCopiedContext || isCopied
	step := arena.Step{
		Content:   text,
		Reasoning: r.reasoning(m.get("reasoning_content")),
		Timestamp: unixMilliseconds(m.get("timestamp")),
		LLMCalls:  m.count("llm_call_count"),
		Masked:    isCopied,
	}
	r.each(m.get("tool_calls"), func(v *value) {
		if !v.isObject() {
			return
		}
		step.Calls = append(step.Calls, arena.ToolCall{
			ID:        v.id("tool_call_id"),
			Name:      r.textOf(v, "function_name"),
			Arguments: v.get("arguments").raw(),
		})
	})
	unmatched := matchResults(step.Calls, results)
	if len(results) == 1 && len(unmatched) == 1 {
		unmatched[0].role = observationRole // the step holds all results of its calls
	}
	r.addStep(step)
	for _, result := range unmatched {
		result.isOfStep = result.callID == ""
		r.addMessage(result)
	}
}

// addATIFText adds a step that the agent did not write as a message. source names the author as
// ATIF does: "user", "system", or any other word, which becomes the unknown role. The tool results
// are joined to the text by line breaks.
func (r *reader) addATIFText(source, text string, results []message) {
	texts := []string{text}
	for _, result := range results {
		texts = append(texts, result.result.Text())
	}
	sender := otherRole
	switch source {
	case "user":
		sender = userRole
	case "system":
		sender = systemRole
	}
	r.addText(sender, strings.TrimPrefix(strings.Join(texts, "\n"), "\n"))
}

// readATIFResults returns a message for each tool result in a list, without results whose content
// is missing or null. It sets hasNonText of the attempt if a result has images or audio.
func (r *reader) readATIFResults(list *value) []message {
	var results []message
	r.each(list, func(v *value) {
		result := v.get("content").joinedText()
		if hasMedia(result) {
			r.attempt().hasNonText = true
		}
		if result.Kind() > arena.Null {
			results = append(results, message{
				role:   toolRole,
				callID: v.id("source_call_id"),
				result: result,
			})
		}
	})
	return results
}

// hasMedia reports whether a tool result is a JSON array with the string "image" or "audio" in it:
// parts that are no text have one of them as their type.
func hasMedia(result arena.Raw) bool {
	isList := result.Kind() == arena.Array
	text := string(result)
	return isList && (strings.Contains(text, `"image"`) || strings.Contains(text, `"audio"`))
}

// matchResults sets the result of each call to the result with the same id. Calls that share an id
// get their results in order. It returns the results that have no id or whose id has no call left.
func matchResults(calls []arena.ToolCall, results []message) []message {
	unanswered := map[string][]int{}
	for i := range calls {
		id := calls[i].ID
		unanswered[id] = append(unanswered[id], i)
	}
	var unmatched []message
	for _, m := range results {
		indices := unanswered[m.callID]
		if m.callID == "" || len(indices) == 0 {
			unmatched = append(unmatched, m)
			continue
		}
		calls[indices[0]].Result = m.result
		unanswered[m.callID] = indices[1:]
	}
	return unmatched
}

// unixMilliseconds converts a string with an ISO 8601 time to a JSON number of Unix milliseconds; a
// time without a time zone is taken as UTC. It returns any other value as it is written.
func unixMilliseconds(v *value) arena.Raw {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, v.str()); err == nil {
			return arena.Raw(strconv.FormatInt(t.UnixMilli(), 10))
		}
	}
	return v.raw()
}
