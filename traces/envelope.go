package traces

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/trajectory-arena/arena"
)

// envelope is what the top level of an object says, read as if it were a
// sandbox envelope, with the keys that tell other shapes apart.
type envelope struct {
	t        *arena.Trace
	marks    mark
	status   arena.Kind
	dialogue arena.Kind
	schema   string
	unknown  []string
}

// mark is a set of top-level keys that tell shapes apart.
type mark uint32

const (
	markProblemID mark = 1 << iota
	markStatus
	markDialogue
	markMessages
	markConversations
	markTraj
	markSteps
	markSchema
	markEpisode
	markSample
	markGrade
	markInput
	markOutput
	markRawText
	markToolCalls
)

var marks = map[string]mark{
	"problem_id": markProblemID, "status": markStatus, "dialogue": markDialogue,
	"messages": markMessages, "conversations": markConversations, "traj": markTraj,
	"steps": markSteps, "schema_version": markSchema, "episode": markEpisode,
	"sample": markSample, "grade": markGrade, "input": markInput, "output": markOutput,
	"raw_text": markRawText, "tool_calls": markToolCalls,
}

func (m mark) has(all mark) bool { return m&all == all }

// isEnvelope tells whether the object is what the sandbox writes: a dialogue,
// or at least how an attempt at a problem ended.
func (e *envelope) isEnvelope() bool {
	const others = markMessages | markConversations | markTraj | markSteps | markEpisode | markSample | markInput
	return e.marks.has(markDialogue) || e.marks.has(markStatus|markProblemID) && e.marks&others == 0
}

// readEnvelope reads an object. A key that comes twice counts as it came last.
func (d *decoder) readEnvelope(e *envelope) {
	e.t = newTrace(arena.ShapeEnvelope)
	c := d.c
	c.Object(func(key string) {
		switch key {
		case "problem_id":
			e.t.ProblemID = d.id()
		case "eval_run_id":
			e.t.RunID = d.id()
		case "status":
			e.status = c.Kind()
			status, _ := c.String()
			e.t.Status = arena.Status(status)
		case "execution_time":
			e.t.Seconds = math.NaN()
			if s, ok := c.Float(); ok {
				e.t.Seconds = s
			}
		case "inference_failure_count":
			e.t.InferenceFailures = d.count()
		case "inference_total":
			e.t.InferenceTotal = d.count()
		case "error":
			e.t.Error = d.attemptError()
		case "dialogue":
			e.dialogue = c.Kind()
			d.readDialogue(e.t)
		case "schema_version":
			e.schema, _ = c.String()
		default:
			if _, known := marks[key]; !known {
				e.unknown = append(e.unknown, key)
			}
			c.Skip()
		}
		e.marks |= marks[key]
	})
}

// trace holds what was read against what the sandbox may write.
func (e *envelope) trace() (*arena.Trace, error) {
	if e.status != arena.String {
		return nil, wrongType("status", "a string", e.status)
	}
	switch e.t.Status {
	case arena.StatusSuccess, arena.StatusFailed, arena.StatusTimedOut:
		return e.t, nil
	default:
		return nil, &damage{UnknownStatus, fmt.Sprintf("status of %d characters is none of the sandbox's", len(e.t.Status))}
	}
}

// keys lists the object's keys for people, a few of them, in their order. Keys
// that do not look like a format's own may hold anything and are not repeated.
func (e *envelope) keys() string {
	const few = 8
	var shown []string
	for _, key := range e.unknown[:min(few, len(e.unknown))] {
		if !formatKey.MatchString(key) {
			key = "…"
		}
		shown = append(shown, key)
	}
	return strings.Join(shown, ", ")
}

var formatKey = regexp.MustCompile(`^[a-z_]{1,24}$`)

// id takes an id. One that is a number is kept as it is written, and told.
func (d *decoder) id() string {
	id, coerced := d.c.ID()
	if coerced {
		d.repairs = append(d.repairs, repairID)
	}
	return id
}

// count takes a whole number from 0; -1 for anything else.
func (d *decoder) count() int {
	n, ok := d.c.Int()
	if !ok || n < 0 || n > math.MaxInt32 {
		return -1
	}
	return int(n)
}

// attemptError takes the error of an attempt: an object, or its bare text.
func (d *decoder) attemptError() *arena.AttemptError {
	c := d.c
	switch c.Kind() {
	case arena.String:
		message, _ := c.String()
		return &arena.AttemptError{Message: message}
	case arena.Object:
		e := &arena.AttemptError{}
		c.Object(func(key string) {
			switch key {
			case "type":
				e.Type, _ = c.String()
			case "message":
				e.Message, _ = c.String()
			default:
				c.Skip()
			}
		})
		return e
	default:
		c.Skip()
		return nil
	}
}
