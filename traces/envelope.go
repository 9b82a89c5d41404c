package traces

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/traces/formats"
)

// The sandbox's own two formats: the line that it writes, and the dialogue of
// it that is published.
var (
	sandboxLine  = arena.Source{Shape: "envelope", HasProxyLog: true}
	dialogueFile = arena.Source{Shape: "dialogue", HasProxyLog: true}
)

// envelope is what the top level of an object says, read as if it were a
// sandbox envelope, with the keys that tell other shapes apart.
type envelope struct {
	d      *decoder
	t      *arena.Trace
	marks  mark
	status arena.Kind
	schema string
	keys   [fewKeys]string
	nKeys  int
}

// mark is a set of top-level keys that tell shapes apart.
type mark uint32

var marks = map[string]mark{}

func keys(names ...string) (m mark) {
	for _, name := range names {
		if marks[name] == 0 {
			marks[name] = 1 << len(marks)
		}
		m |= marks[name]
	}
	return m
}

func (m mark) has(all mark) bool { return m&all == all }
func (m mark) any(of mark) bool  { return m&of != 0 }

var (
	dialogueKey = keys("dialogue")
	outcomeKeys = keys("status", "problem_id")
	otherKeys   = keys("messages", "conversations", "traj", "steps", "episode", "sample", "input")
)

// isEnvelope reports whether the object is what the sandbox writes: a dialogue,
// or at least how an attempt at a problem ended.
func (e *envelope) isEnvelope() bool {
	return e.marks.has(dialogueKey) || e.marks.has(outcomeKeys) && !e.marks.any(otherKeys)
}

// read takes an object. A key that comes twice counts as it came last.
func (e *envelope) read() {
	e.t = new(formats.NewTrace(sandboxLine))
	e.d.c.Object(func(key string) {
		e.marks |= marks[key]
		if e.nKeys < fewKeys {
			e.keys[e.nKeys] = key
			e.nKeys++
		}
		e.field(key)
	})
}

func (e *envelope) field(key string) {
	d, c := e.d, e.d.c
	switch key {
	case "problem_id":
		e.t.ProblemID = c.ID()
	case "eval_run_id":
		e.t.RunID = c.ID()
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
		d.readDialogue(e.t)
	case "schema_version":
		e.schema, _ = c.String()
	default:
		c.Skip()
	}
}

func (e *envelope) trace() (*arena.Trace, error) {
	if e.status != arena.String {
		return nil, wrongType("status", "a string", e.status)
	}
	switch e.t.Status {
	case arena.StatusSuccess, arena.StatusFailed, arena.StatusTimedOut:
		e.t.ProblemID = cmp.Or(e.t.ProblemID, e.d.parts.problemID)
		return e.t, nil
	default:
		return nil, &damage{UnknownStatus, fmt.Sprintf("status of %d characters is none of the sandbox's", len(e.t.Status))}
	}
}

// fewKeys is how many keys of an object are enough to recognise it by.
const fewKeys = 8

func (e *envelope) shownKeys() string {
	for i, key := range e.keys {
		e.keys[i] = shownWord(key)
	}
	return strings.Join(e.keys[:e.nKeys], ", ")
}

// shownWord is a word of a format as messages may repeat it. A word that does
// not look like one may hold anything, a secret too, and is not repeated.
func shownWord(word string) string {
	if !formatWord.MatchString(word) {
		return "…"
	}
	return word
}

var formatWord = regexp.MustCompile(`^[A-Za-z_.-]{1,32}[0-9.]{0,4}$`)

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
