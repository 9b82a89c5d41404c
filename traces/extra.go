package traces

import (
	"cmp"
	"encoding/json"

	"github.com/trajectory-arena/arena"
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
	c := d.c
	c.Object(func(key string) {
		if key == "oro" || key == "arena" {
			c.Object(func(key string) { d.extraField(x, key) })
			return
		}
		c.Skip()
	})
}

func (d *decoder) extraField(x *extra, key string) {
	c := d.c
	switch key {
	case "eval_run_id":
		x.runID, _ = c.ID()
	case "problem_id":
		x.problemID, _ = c.ID()
	case "task_id":
		x.taskID, _ = c.ID()
	case "agent_version_id":
		x.agent.VersionID, _ = c.ID()
	case "miner_hotkey":
		x.agent.Hotkey, _ = c.ID()
	case "suite_version":
		x.agent.Suite, _ = c.ID()
	case "started_at":
		x.agent.StartedAt, _ = c.ID()
	case "reward":
		x.reward = d.reward()
	case "execution_time":
		if s, ok := c.Float(); ok {
			x.seconds = &s
		}
	case "inference_total":
		n := d.count()
		x.total = &n
	case "inference_failure_count":
		n := d.count()
		x.failures = &n
	case "status":
		x.status, _ = c.String()
	case "error":
		x.err = d.attemptError()
	case "query":
		q, _ := c.String()
		x.query = &q
	case "dialogue":
		x.noDialogue = c.Raw().Kind() == arena.Null
	case "vetoes":
		c.Array(func() {
			word, _ := c.String()
			x.vetoes = append(x.vetoes, word)
		})
	default:
		c.Skip()
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
	c := d.c
	c.Object(func(key string) {
		if key == "arena" {
			c.Object(func(key string) { d.stepExtraField(x, key) })
			return
		}
		c.Skip()
	})
}

func (d *decoder) stepExtraField(x *stepExtra, key string) {
	c := d.c
	switch key {
	case "number":
		x.number = d.count()
	case "think":
		x.think = d.optional()
	case "response":
		x.response = d.optional()
	case "content":
		x.content = d.optional()
	case "reasoning":
		x.reasoning = d.optional()
	case "timestamp":
		x.timestamp = c.Raw()
	case "arguments":
		x.arguments = nil
		c.Array(func() { x.arguments = append(x.arguments, d.keptArguments()) })
	case "json_results":
		x.json = d.indexes()
	case "calls_without_id":
		x.noID = d.indexes()
	default:
		c.Skip()
	}
}

// keptArguments are arguments that are no object, with the index of their call.
type keptArguments struct {
	call  int
	value arena.Raw
}

func (d *decoder) keptArguments() (k keptArguments) {
	c := d.c
	k.call = -1
	c.Object(func(key string) {
		switch key {
		case "call":
			k.call = d.count()
		case "value":
			k.value = c.Raw()
		default:
			c.Skip()
		}
	})
	return k
}

func (d *decoder) optional() *string {
	s, ok := d.c.String()
	if !ok {
		return nil
	}
	return &s
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
