package traces

import (
	"cmp"

	"github.com/trajectory-arena/arena"
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
}

// chatRow reads an object around messages: OpenAI's, ShareGPT's, tau-bench's
// trajectories, ORO's prompts and predictions.
func (d *decoder) chatRow(source arena.Source) (found, error) {
	w := row{conversation: conversation{t: newTrace(source)}}
	d.c.Reset(d.c.Source())
	d.c.Object(func(key string) { d.rowField(&w, key) })
	if err := d.c.End(); err != nil {
		return found{}, err
	}
	if w.said == nil && w.messages != arena.Array {
		return found{}, wrongType("messages", "an array", w.messages)
	}
	if w.said != nil {
		w.agent(*w.said)
	}
	w.t.System = cmp.Or(w.t.System, w.system)
	w.t.Query = cmp.Or(w.t.Query, w.query)
	w.t.ProblemID = cmp.Or(w.problemID, w.taskID, w.id)
	return found{trace: w.t, session: w.session, trial: w.trial}, nil
}

func (d *decoder) rowField(w *row, key string) {
	c := d.c
	switch key {
	case "messages", "conversations", "traj":
		w.messages = c.Kind()
		d.messages(&w.conversation)
	case "problem_id":
		w.problemID = d.id()
	case "task_id":
		w.taskID, _ = c.ID()
	case "id":
		w.id, _ = c.ID()
	case "eval_run_id":
		w.t.RunID = d.id()
	case "session_id":
		w.session, _ = c.ID()
	case "trial":
		w.trial, _ = c.ID()
	case "model":
		w.t.Model, _ = c.String()
	case "system":
		w.system, _ = c.String()
	case "query":
		w.query, _ = c.String()
	case "tools":
		w.t.Tools = d.tools()
	case "reward":
		w.t.Declared = d.reward()
	case "raw_text", "tool_calls":
		d.prediction(w, key)
	case "error":
		if w.t.Error = d.attemptError(); w.t.Error != nil {
			w.t.Status = arena.StatusFailed
		}
	default:
		c.Skip()
	}
}

// prediction takes the text or the calls of a model's next turn.
func (d *decoder) prediction(w *row, key string) {
	if w.said == nil {
		w.said = &arena.Step{}
	}
	if key == "tool_calls" {
		w.said.Calls = d.chatCalls(nil)
		return
	}
	w.said.Content, _ = d.c.String()
}

// tools takes tool definitions: a list, or a list in a string.
func (d *decoder) tools() arena.Raw {
	if d.c.Kind() != arena.String {
		return arrayOnly(d.c.Raw())
	}
	text, _ := d.c.String()
	inner := d.within(text)
	list := inner.c.Raw()
	if d.leave(inner) != nil {
		return ""
	}
	return arrayOnly(list)
}

func arrayOnly(raw arena.Raw) arena.Raw {
	if raw.Kind() != arena.Array {
		return ""
	}
	return raw
}

// reward takes a number, or a bool as 1 or 0; nil for anything else.
func (d *decoder) reward() *float64 {
	var reward float64
	ok := true
	switch d.c.Kind() {
	case arena.Number:
		reward, ok = d.c.Float()
	case arena.Bool:
		if d.c.Bool() {
			reward = 1
		}
	default:
		d.c.Skip()
		ok = false
	}
	if !ok {
		return nil
	}
	return &reward
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
