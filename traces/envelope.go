package traces

import (
	"cmp"
	"fmt"
	"math"
	"regexp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/traces/formats"
)

// The two formats of the sandbox, in which the subnet runs agents: the JSON line that it writes
// for each attempt, and the published list of the attempt's steps.
var (
	sandboxLine  = arena.Source{Shape: "envelope", HasProxyLog: true}
	dialogueFile = arena.Source{Shape: "dialogue", HasProxyLog: true}
)

// envelope reads the top level of a JSON object as if it were an envelope (the sandbox's record of
// an attempt). It also collects the keys by which other formats are recognised.
type envelope struct {
	d *decoder
	t *arena.Trace
	// statusKind is the JSON type of the status.
	statusKind arena.Kind
	schema     string
	keys       keySet
	// firstNames are the first nFirst keys of the object, for error messages.
	firstNames [maxQuotedKeys]string
	nFirst     int
}

// keySet is a set of top-level JSON keys that identify file formats, with one bit for each key.
type keySet uint32

// keyBits maps each key that occurs in a key set to its bit.
var keyBits = map[string]keySet{}

// keys returns the set of the keys with these names, and assigns a bit to each new name. It must
// be called only to initialize variables of the package.
func keys(names ...string) keySet {
	var set keySet
	for _, name := range names {
		if keyBits[name] == 0 {
			keyBits[name] = 1 << len(keyBits)
		}
		set |= keyBits[name]
	}
	return set
}

func (s keySet) hasAll(keys keySet) bool { return s&keys == keys }
func (s keySet) hasAny(keys keySet) bool { return s&keys != 0 }

var (
	dialogueKey = keys("dialogue")
	outcomeKeys = keys("status", "problem_id")
	otherKeys   = keys("messages", "conversations", "traj", "steps", "episode", "sample", "input")
)

// isEnvelope reports whether the object is an envelope (the sandbox's record of an attempt): it has
// the key dialogue, or it has the keys status and problem_id but no key of another format.
func (e *envelope) isEnvelope() bool {
	if e.keys.hasAll(dialogueKey) {
		return true
	}
	return e.keys.hasAll(outcomeKeys) && !e.keys.hasAny(otherKeys)
}

// read reads all members of an object. If a key occurs several times, its last value counts.
func (e *envelope) read() {
	e.t = new(formats.NewTrace(sandboxLine))
	e.d.members("", func(key string) {
		e.keys |= keyBits[key]
		if e.nFirst < maxQuotedKeys {
			e.firstNames[e.nFirst] = key
			e.nFirst++
		}
		e.readField(key)
	})
}

func (e *envelope) readField(key string) {
	d, c := e.d, e.d.c
	switch key {
	case "problem_id":
		e.t.ProblemID = c.ID()
	case "eval_run_id":
		e.t.RunID = c.ID()
	case "status":
		e.statusKind = c.Kind()
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
		d.skip("", key)
	}
}

// trace returns the trace of an object that is an envelope (the sandbox's record of an attempt).
// The error is a *damage if its status is not a string, or not one of the three that the sandbox
// writes.
func (e *envelope) trace() (*arena.Trace, error) {
	if e.statusKind != arena.String {
		return nil, wrongType("status", "a string", e.statusKind)
	}
	switch e.t.Status {
	case arena.StatusSuccess, arena.StatusFailed, arena.StatusTimedOut:
		e.t.ProblemID = cmp.Or(e.t.ProblemID, e.d.parts.problemID)
		e.t.Lost = e.d.unread.Words()
		return e.t, nil
	default:
		detail := fmt.Sprintf("status of %d characters is none of the sandbox's", len(e.t.Status))
		return nil, &damage{UnknownStatus, detail}
	}
}

// maxQuotedKeys is the maximum number of an object's keys that an error message lists, if the
// object is of no known format.
const maxQuotedKeys = 8

// maxKeyBytes limits an error message's list of keys: once the list is longer than this number of
// bytes, no key is added.
const maxKeyBytes = 120

// firstKeys returns the first keys of the object, separated by commas, for an error message. A
// key that may be a secret is replaced by "…".
func (e *envelope) firstKeys() string {
	list := ""
	for i := range e.nFirst {
		if len(list) > maxKeyBytes {
			return list + ", …"
		}
		if i > 0 {
			list += ", "
		}
		list += quotableWord(e.firstNames[i])
	}
	return list
}

// quotableWord returns word, a key or schema name, if it looks like an identifier or a short
// number. Any other word may be a secret, and the result is "…".
func quotableWord(word string) string {
	if !formatWord.MatchString(word) {
		return "…"
	}
	return word
}

var formatWord = regexp.MustCompile(`^([A-Za-z_.-]{1,32}[0-9.]{0,4}|[0-9]{1,4})$`)

// count reads an integer from 0 to math.MaxInt32. It returns -1 for any other value.
func (d *decoder) count() int {
	n, ok := d.c.Int()
	if !ok || n < 0 || n > math.MaxInt32 {
		return -1
	}
	return int(n)
}

// attemptError reads the error of an attempt, which is an object with type and message, or a string
// with the message. It returns nil for any other value.
func (d *decoder) attemptError() *arena.AttemptError {
	c := d.c
	switch c.Kind() {
	case arena.String:
		message, _ := c.String()
		return &arena.AttemptError{Message: message}
	case arena.Object:
		e := &arena.AttemptError{}
		d.members("error", func(key string) {
			switch key {
			case "type":
				e.Type, _ = c.String()
			case "message":
				e.Message, _ = c.String()
			default:
				d.skip("error", key)
			}
		})
		return e
	default:
		c.SkipMistyped()
		return nil
	}
}
