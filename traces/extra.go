package traces

import (
	"cmp"
	"encoding/json"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// extra is what a document's extra fields say for which ATIF has no field:
// extra.oro as the subnet writes it, extra.arena as this package does.
type extra struct {
	runID, problemID, taskID string
	agent                    arena.Agent
	reward                   *float64
	seconds                  *float64
	total, failures          *int
	status                   string
	err                      *arena.AttemptError
	query                    *string
	noDialogue               bool
	vetoes                   []string
}

// extras takes an extra object.
func (d *decoder) extras(x *extra) {
	fields := d.extraFields(x)
	d.c.Fields(cursor.Fields{"oro": fields, "arena": fields})
}

func (d *decoder) extraFields(x *extra) cursor.Fields {
	c := d.c
	return cursor.Fields{
		"eval_run_id":      cursor.AsID(&x.runID),
		"problem_id":       cursor.AsID(&x.problemID),
		"task_id":          cursor.AsID(&x.taskID),
		"agent_version_id": cursor.AsID(&x.agent.VersionID),
		"miner_hotkey":     cursor.AsID(&x.agent.Hotkey),
		"suite_version":    cursor.AsID(&x.agent.Suite),
		"started_at":       cursor.AsID(&x.agent.StartedAt),
		"reward":           func() { x.reward = d.reward() },
		"execution_time": func() {
			if s, ok := c.Float(); ok {
				x.seconds = &s
			}
		},
		"inference_total": func() {
			n := d.count()
			x.total = &n
		},
		"inference_failure_count": func() {
			n := d.count()
			x.failures = &n
		},
		"status": &x.status,
		"error":  func() { x.err = d.attemptError() },
		"query": func() {
			q, _ := c.String()
			x.query = &q
		},
		"dialogue": func() { x.noDialogue = c.Raw().Kind() == arena.Null },
		"vetoes": func() {
			c.Array(func() {
				word, _ := c.String()
				x.vetoes = append(x.vetoes, word)
			})
		},
	}
}

// apply gives a trace what the extra fields say of it.
func (x *extra) apply(t *arena.Trace) {
	t.RunID, t.ProblemID, t.Agent = x.runID, cmp.Or(x.problemID, x.taskID), x.agent
	t.Declared, t.Error = x.reward, x.err
	if x.seconds != nil {
		t.Seconds = *x.seconds
	}
	if x.total != nil {
		t.InferenceTotal = *x.total
	}
	if x.failures != nil {
		t.InferenceFailures = *x.failures
	}
	if x.query != nil {
		t.Query = *x.query
	}
	switch s := arena.Status(x.status); s {
	case arena.StatusSuccess, arena.StatusFailed, arena.StatusTimedOut:
		t.Status, t.HasDialogue = s, !x.noDialogue
	}
	for _, word := range x.vetoes {
		if word != "" {
			addVeto(t, word)
		}
	}
}

// stepExtra is extra.arena of a step: what this package's writer could not say
// in ATIF's own fields.
type stepExtra struct {
	number                              int
	think, response, content, reasoning *string
	timestamp                           arena.Raw
	arguments                           []keptArguments
	json, noID                          []int
}

func (d *decoder) stepExtra(x *stepExtra) {
	d.c.Fields(cursor.Fields{"arena": cursor.Fields{
		"number":    func() { x.number = d.count() },
		"think":     d.optional(&x.think),
		"response":  d.optional(&x.response),
		"content":   d.optional(&x.content),
		"reasoning": d.optional(&x.reasoning),
		"timestamp": &x.timestamp,
		"arguments": func() {
			x.arguments = nil
			d.c.Array(func() { x.arguments = append(x.arguments, d.keptArguments()) })
		},
		"json_results":     func() { x.json = d.indexes() },
		"calls_without_id": func() { x.noID = d.indexes() },
	}})
}

// keptArguments are arguments that are no object, with the index of their call.
type keptArguments struct {
	call  int
	value arena.Raw
}

func (d *decoder) keptArguments() keptArguments {
	k := keptArguments{call: -1}
	d.c.Fields(cursor.Fields{"call": func() { k.call = d.count() }, "value": &k.value})
	return k
}

// optional takes a string into to, or nil for anything else.
func (d *decoder) optional(to **string) func() {
	return func() {
		*to = nil
		if s, ok := d.c.String(); ok {
			*to = &s
		}
	}
}

func (d *decoder) indexes() (all []int) {
	d.c.Array(func() { all = append(all, d.count()) })
	return all
}

// apply restores a step that this package wrote. results are in the order of
// the calls they answer.
func (x *stepExtra) apply(s *arena.Step, results []result) {
	s.Number = x.number
	for _, field := range []struct {
		to   *string
		from *string
	}{{&s.Think, x.think}, {&s.Response, x.response}, {&s.Content, x.content}, {&s.Reasoning, x.reasoning}} {
		if field.from != nil {
			*field.to = *field.from
		}
	}
	if x.timestamp != "" {
		s.Timestamp = x.timestamp
	}
	for _, kept := range x.arguments {
		if i := kept.call; i >= 0 && i < len(s.Calls) {
			s.Calls[i].Arguments = kept.value
		}
	}
	for _, i := range x.json {
		if i >= 0 && i < len(results) {
			results[i].value = unquote(results[i].value)
		}
	}
}

// forgetIDs takes away the ids that the writer had to make up, once results
// have found their calls by them.
func (x *stepExtra) forgetIDs(calls []arena.ToolCall) {
	for _, i := range x.noID {
		if i >= 0 && i < len(calls) {
			calls[i].ID = ""
		}
	}
}

// unquote is the JSON that a string holds, or raw itself where it holds none.
func unquote(raw arena.Raw) arena.Raw {
	if text := raw.Text(); raw.Kind() == arena.String && json.Valid([]byte(text)) {
		return arena.Raw(text)
	}
	return raw
}
