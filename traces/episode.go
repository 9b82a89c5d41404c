package traces

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

func isEpisode(schema string) bool { return schema == "oro.environment_episode.v1" }

// episode reads one oro.environment_episode.v1: the calls of its call_trace
// with what the environment answered. The simulated shopper's own prompts and
// the verdict's checks hold the answer and are never read; of the verdict only
// the reward is: what was paid, else whether the order was correct.
func (d *decoder) episode() (found, error) {
	v := conversation{t: newTrace(arena.Source{Shape: "episode"}), asked: true} // the request is in bootstrap, all that is said later is a step
	var session string
	var paid, correct *float64
	c := d.c
	c.Reset(c.Source())
	c.Fields(cursor.Fields{"episode": cursor.Fields{
		"task_id":          cursor.AsID(&v.t.ProblemID),
		"agent_version_id": cursor.AsID(&v.t.Agent.VersionID),
		"session_id":       cursor.AsID(&session),
		"bootstrap": cursor.Fields{"policy_view": cursor.Fields{
			"query": &v.t.Query,
			"tools": func() { v.t.Tools = d.tools() },
		}},
		"call_trace": func() {
			v.restart()
			c.Array(func() { d.episodeTurn(&v) })
		},
		"verdict": cursor.Fields{
			"paid_reward": func() { paid = d.reward() },
			"correct":     func() { correct = d.reward() },
		},
	}})
	if v.t.Declared = paid; paid == nil {
		v.t.Declared = correct
	}
	return found{trace: v.t, session: session}, c.End()
}

// episodeTurn takes one turn: its calls, their answers, and what the shopper
// said after it.
func (d *decoder) episodeTurn(v *conversation) {
	step := arena.Step{}
	var said string
	var results []result
	c := d.c
	c.Fields(cursor.Fields{
		"request": cursor.Fields{
			"turn":  func() { step.Number = d.count() },
			"calls": func() { c.Array(func() { step.Calls = append(step.Calls, d.turnCall()) }) },
		},
		"response": cursor.Fields{
			"user_message": func() { said = d.shopperText() },
			"calls":        func() { c.Array(func() { results = append(results, d.result("call_id", "observation")) }) },
		},
	})
	v.agent(step)
	for _, r := range results {
		v.result(r.callID, "", r.value)
	}
	if said != "" {
		v.user(said)
	}
}

func (d *decoder) turnCall() (call arena.ToolCall) {
	d.c.Fields(cursor.Fields{
		"call_id": cursor.AsID(&call.ID),
		"action":  cursor.Fields{"name": &call.Name, "args": &call.Arguments},
	})
	return call
}

// shopperText takes a message of the shopper: its text, or an object around it.
func (d *decoder) shopperText() (said string) {
	if d.c.Kind() == arena.Object {
		d.c.Fields(cursor.Fields{"content": &said})
		return said
	}
	said, _ = d.c.String()
	return said
}

// result takes an answer and the id of its call by their names.
func (d *decoder) result(id, value string) (r result) {
	d.c.Fields(cursor.Fields{id: cursor.AsID(&r.callID), value: &r.value})
	return r
}
