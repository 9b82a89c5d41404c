package traces

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// feedback reads one oro.episode_feedback.v1, which the public API gives out: what
// the agent saw and did, and what was paid. It holds no inference, so nothing tells
// who wrote the calls.
func (d *decoder) feedback() (found, error) {
	e := d.episodeText("feedback")
	c, v := d.c, &e.verdict
	var termination string
	fields := cursor.Fields{
		"episode_result_id": cursor.AsID(&e.session),
		"task_id":           cursor.AsID(&e.t.ProblemID),
		"family":            &e.t.Family,
		"query":             &e.t.Query,
		"passed":            func() { v.correct = d.reward() },
		"paid_reward":       func() { v.Score = d.reward() },
		"failure_category":  &v.Category,
		"termination_code":  &termination,
		"interaction": func() {
			e.restart()
			e.t.HasDialogue = c.Array(e.interaction)
		},
	}
	v.session(d, fields)
	c.Fields(fields)
	if termination == "infrastructure_error" {
		v.fault = true
	}
	return e.found()
}

// interaction takes one step of a feedback: what the agent called and said, and
// what the shopper said then.
func (e *episodeText) interaction() {
	d := e.d
	step, said := arena.Step{}, ""
	d.c.Fields(cursor.Fields{
		"turn": func() { step.Number = d.count() }, "message": &step.Response, "shopper_message": &said,
		"calls": func() { d.c.Array(func() { step.Calls = append(step.Calls, d.publicCall()) }) },
	})
	if len(step.Calls) > 0 || step.Response != "" {
		e.agent(step)
	}
	if said != "" {
		e.user(said)
	}
}

// publicCall takes a call with its answer, or with the code of its error.
func (d *decoder) publicCall() (call arena.ToolCall) {
	var failed string
	d.c.Fields(cursor.Fields{
		"call_id": cursor.AsID(&call.ID), "tool_name": &call.Name, "args": &call.Arguments,
		"observation": &call.Result, "error_code": &failed,
	})
	if k := call.Result.Kind(); failed != "" && (k == arena.Absent || k == arena.Null) {
		call.Result = `{"error":` + arena.Quote(failed) + `}`
	}
	return call
}
