package traces

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/traces/cold"
)

// The formats of messages: those of OpenAI's API, and those named by who speaks.
var (
	openAI   = arena.Source{Shape: "openai", TextArguments: true}
	shareGPT = arena.Source{Shape: "sharegpt", TextArguments: true}
)

// row is what stands beside the messages in a row of a data set.
type row struct {
	conversation
	problemID, taskID, id string
	session, trial        string
	system                string
	query                 string
	said                  *arena.Step // the model's text and calls of a prediction
	messages              arena.Kind
	unrewarded            bool // by arena's own metadata: the column is 0 where there was no reward
}

// chatRow reads an object around messages: OpenAI's, ShareGPT's, tau-bench's
// trajectories, ORO's prompts and predictions.
func chatRow(source arena.Source) func(*decoder) (found, error) {
	return func(d *decoder) (found, error) { return d.chatRow(source) }
}

func (d *decoder) chatRow(source arena.Source) (found, error) {
	w := row{conversation: conversation{t: newTrace(source)}}
	d.c.Reset(d.c.Source())
	d.c.Fields(d.rowFields(&w))
	if err := d.c.End(); err != nil {
		return found{}, err
	}
	if w.said == nil && (w.messages < arena.String || d.notJSON) {
		return found{}, wrongType("messages", "an array", w.messages)
	}
	if w.said != nil {
		w.agent(*w.said)
	}
	w.t.System = cmp.Or(w.t.System, w.system)
	w.t.Query = cmp.Or(w.t.Query, w.query)
	w.t.ProblemID = cmp.Or(w.problemID, w.taskID, w.id)
	if w.unrewarded {
		w.t.Declared = nil
	}
	// A session of ours is a run and a problem.
	session := strings.TrimSuffix(w.session, "/"+w.t.ProblemID)
	return found{trace: w.t, session: session, trial: w.trial}, nil
}

func (d *decoder) rowFields(w *row) cursor.Fields {
	messages := func() {
		w.messages = d.c.Kind()
		d.messages(&w.conversation)
	}
	return cursor.Fields{
		"messages": messages, "conversations": messages, "traj": messages, "trajectory": messages,
		"problem_id":  func() { w.problemID = d.id() },
		"task_id":     cursor.AsID(&w.taskID),
		"instance_id": cursor.AsID(&w.taskID),
		"id":          cursor.AsID(&w.id),
		"eval_run_id": func() { w.t.RunID = d.id() },
		"session_id":  cursor.AsID(&w.session),
		"trial":       cursor.AsID(&w.trial),
		"model":       &w.t.Model,
		"model_name":  &w.t.Model,
		"system":      &w.system,
		"query":       &w.query,
		"tools":       func() { w.t.Tools = d.tools() },
		"reward":      func() { w.t.Declared = d.reward() },
		"resolved":    func() { w.t.Declared = d.reward() },
		"target":      func() { w.t.Declared = d.reward() },
		"metadata": func() {
			declared := cold.Unpacked(gjson.Parse(string(d.c.Raw()))).Get("declared_reward")
			w.unrewarded = declared.Exists() && declared.Type == gjson.Null
		},
		"exit_status": func() {
			status, _ := d.c.String()
			w.fails(cold.Exit(status))
		},
		"raw_text":   func() { w.prediction().Content, _ = d.c.String() },
		"tool_calls": func() { w.prediction().Calls = d.chatCalls(nil) },
		"error":      func() { w.fails(d.attemptError()) },
	}
}

func (w *row) fails(why *arena.AttemptError) {
	if w.t.Error = why; why != nil {
		w.t.Status = arena.StatusFailed
	}
}

// prediction is the text or the calls of a model's next turn.
func (w *row) prediction() *arena.Step {
	if w.said == nil {
		w.said = &arena.Step{}
	}
	return w.said
}

// tools takes tool definitions: a list, or a list in a string.
func (d *decoder) tools() arena.Raw { return cold.Tools(gjson.Parse(string(d.c.Raw()))) }

// reward takes a number, or a bool as 1 or 0; nil for anything else.
func (d *decoder) reward() *float64 {
	if d.c.Kind() == arena.Bool {
		reward := 0.0
		if d.c.Bool() {
			reward = 1
		}
		return &reward
	}
	if reward, ok := d.c.Float(); ok {
		return &reward
	}
	return nil
}

// bareMessages reads a list of messages without anything around them.
func (d *decoder) bareMessages(source arena.Source) (found, error) {
	v := conversation{t: newTrace(source)}
	d.messages(&v)
	if err := d.c.End(); err != nil {
		return found{}, err
	}
	return found{trace: v.t}, nil
}
