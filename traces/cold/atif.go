package cold

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// ATIF is one document of the Agent Trajectory Interchange Format, told by its schema in
// package traces. What it has no field for stands under extra.oro as the subnet writes
// it, and under extra.arena as this project does.
var ATIF = Format{Name: "atif", Typed: true, read: func(r *reader, top object) {
	if kind := arena.Raw(top["steps"].Raw).Kind(); kind != arena.Array {
		r.err = &NoMessages{"steps", kind}
		return
	}
	a, agent := r.begin(""), top.within("agent")
	a.Session, a.Model, a.Tools = top.id("session_id"), r.text(agent["model_name"]), Tools(agent["tool_definitions"])
	r.each(top["steps"], func(v gjson.Result) { r.atifStep(fields(v)) })
	for _, extra := range []object{top.within("final_metrics").within("extra"), top.within("extra")} {
		r.atifExtra(extra.within("oro"))
		r.atifExtra(extra.within("arena"))
	}
	if a.dialogue == nil && a.Agent.VersionID == "" {
		a.Agent.VersionID = agentName(r.text(agent["name"]), agent.id("version"))
	}
}}

// agentName is name@version, without what is missing or said to be unknown.
func agentName(name, version string) string {
	const unknown = "unknown"
	switch {
	case name == unknown:
		return ""
	case name == "" || version == "" || version == unknown:
		return name
	}
	return name + "@" + version
}

func (r *reader) atifExtra(own object) {
	a := r.attempt()
	a.RunID, a.ProblemID = cmp.Or(own.id("eval_run_id"), a.RunID), cmp.Or(own.id("problem_id"), a.ProblemID, own.id("task_id"))
	a.Agent.VersionID, a.Agent.Hotkey = cmp.Or(own.id("agent_version_id"), a.Agent.VersionID), cmp.Or(own.id("miner_hotkey"), a.Agent.Hotkey)
	a.Agent.Suite, a.Agent.StartedAt = cmp.Or(own.id("suite_version"), a.Agent.Suite), cmp.Or(own.id("started_at"), a.Agent.StartedAt)
	a.Declared = cmp.Or(own.number("reward"), a.Declared)
	set(&a.Seconds, own.number("execution_time"))
	set(&a.InferenceTotal, own.count("inference_total"))
	set(&a.InferenceFailures, own.count("inference_failure_count"))
	a.Error, a.request = cmp.Or(r.attemptError(own["error"]), a.Error), cmp.Or(r.text(own["query"]), a.request)
	switch s := arena.Status(r.text(own["status"])); s {
	case arena.StatusSuccess, arena.StatusFailed, arena.StatusTimedOut:
		null := own["dialogue"].Exists() && own["dialogue"].Type == gjson.Null
		a.Status, a.dialogue = s, new(!null)
	}
	r.each(own["vetoes"], func(v gjson.Result) { a.Given = append(a.Given, r.text(v)) })
}

// atifStep reads a step and gives it to who took it. Calls have the results of the step
// itself; what was observed without the agent becomes words.
func (r *reader) atifStep(m object) {
	a, source := r.attempt(), r.text(m["source"])
	a.Model = cmp.Or(a.Model, r.text(m["model_name"]))
	text, results := r.content(m["message"]).step.Content, r.observed(m.within("observation")["results"])
	if source != "agent" {
		told := append([]string{text}, slicesx.Map(results, func(m message) string { return m.result.Text() })...)
		r.tell(map[string]Role{"user": User, "system": System}[source], strings.TrimPrefix(strings.Join(told, "\n"), "\n"))
		return
	}
	a.copied = a.copied || m["is_copied_context"].Type == gjson.True
	s := arena.Step{Content: text, Reasoning: r.text(m["reasoning_content"]), Timestamp: moment(m["timestamp"]), LLMCalls: m.count("llm_call_count")}
	r.each(m["tool_calls"], func(v gjson.Result) {
		if c := fields(v); v.IsObject() {
			s.Calls = append(s.Calls, arena.ToolCall{ID: c.id("tool_call_id"), Name: r.text(c["function_name"]), Arguments: arena.Raw(c["arguments"].Raw)})
		}
	})
	later := answered(s.Calls, results)
	r.say(message{role: Agent, step: s})
	for _, answer := range later {
		r.say(answer)
	}
}

// observed are a step's results. Those without content are none.
func (r *reader) observed(list gjson.Result) (all []message) {
	r.each(list, func(v gjson.Result) {
		o := fields(v)
		value := PartsText(arena.Raw(o["content"].Raw))
		if value.Kind() == arena.Array && strings.Contains(string(value), `"image"`) {
			r.attempt().nonText = true
		}
		if value.Kind() > arena.Null {
			all = append(all, message{role: Tool, callID: o.id("source_call_id"), result: value})
		}
	})
	return all
}

// answered gives calls their results; later are those that answer none of them.
func answered(calls []arena.ToolCall, results []message) (later []message) {
	open := map[string][]int{}
	for i := range calls {
		open[calls[i].ID] = append(open[calls[i].ID], i)
	}
	for _, answer := range results {
		waiting := open[answer.callID]
		if answer.callID == "" || len(waiting) == 0 {
			later = append(later, answer)
			continue
		}
		calls[waiting[0]].Result, open[answer.callID] = answer.result, waiting[1:]
	}
	return later
}

// moment is a time as Unix milliseconds: ATIF writes ISO 8601, with or without
// a zone. Anything else stays what it is.
func moment(v gjson.Result) arena.Raw {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, v.Str); err == nil {
			return arena.Raw(strconv.FormatInt(at.UnixMilli(), 10))
		}
	}
	return arena.Raw(v.Raw)
}
