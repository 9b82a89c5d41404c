package traces

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// decoder turns records into traces. It keeps working memory from one record
// to the next; a trace it gave out shares none of it.
type decoder struct {
	c      *cursor.Cursor
	limits cursor.Limits
	// repairs of the record at hand.
	repairs []string
	parts   parts
	// taken counts the elements taken from JSON in its strings.
	taken int
}

// found is a trace before it has its ids.
type found struct {
	trace *arena.Trace
	// lone is set if the trace is all that its file holds.
	lone bool
	// session and trial are the recording's own, where it has them.
	session string
	trial   string
	repairs []string
}

func newDecoder(l Limits) *decoder {
	return &decoder{c: cursor.New("", l.cursor()), limits: l.cursor()}
}

// record decodes one record. Its errors are *cursor.Error where the text is no
// JSON within the limits and *damage where it is no attempt.
func (d *decoder) record(text []byte) (found, error) {
	size := len(text)
	var repairs []string
	if !utf8.Valid(text) {
		text, repairs = mendUTF8(text), []string{repairUTF8}
	}
	f, err := d.text(string(text))
	if err != nil && bytes.IndexByte(text, 0) >= 0 {
		repairs = append(repairs, repairNUL)
		f, err = d.text(string(cutNUL(text)))
	}
	if err != nil {
		return found{}, err
	}
	if d.c.LoneSurrogate() {
		repairs = append(repairs, repairSurrogate)
	}
	f.repairs = append(repairs, d.repairs...)
	for _, word := range f.repairs {
		if word != repairID {
			addVeto(f.trace, word)
		}
	}
	f.trace.Bytes = size
	return f, nil
}

// text decodes a record that is valid UTF-8. The trace shares its memory.
func (d *decoder) text(text string) (found, error) {
	d.repairs, d.parts.problemID, d.taken = nil, "", 0
	d.c.Reset(text)
	return d.any()
}

// within decodes JSON that a string of the record holds. Its elements count
// towards the record's.
func (d *decoder) within(text string) *decoder {
	limits := d.limits
	limits.Elements -= d.taken
	return &decoder{c: cursor.New(text, limits), limits: limits}
}

// leave ends what within began; the error says why the string is no JSON.
func (d *decoder) leave(inner *decoder) error {
	d.taken += inner.c.Taken() + inner.taken
	return inner.c.End()
}

// any tells the shapes apart by what the record holds.
func (d *decoder) any() (found, error) {
	switch d.c.Kind() {
	case arena.Object:
		return d.object()
	case arena.Array:
		return d.list()
	case arena.Null:
		return d.noDialogue()
	default:
		return d.nothing("neither an object nor an array")
	}
}

// noDialogue reads null, which is what a dialogue file holds of an attempt
// that left none.
func (d *decoder) noDialogue() (found, error) {
	d.c.Skip()
	return found{trace: newTrace(dialogueFile)}, d.c.End()
}

// object reads a record as an envelope, and as another shape if its keys say
// that it is one: envelopes are nearly all that there is.
func (d *decoder) object() (found, error) {
	e := envelope{d: d}
	e.read()
	if err := d.c.End(); err != nil {
		return found{}, err
	}
	if e.isEnvelope() {
		t, err := e.trace()
		return found{trace: t}, err
	}
	d.repairs = nil
	for _, s := range shapes {
		if s.is(&e) {
			return s.read(d)
		}
	}
	if e.schema != "" && e.marks.any(stepKeys) {
		return found{}, &damage{UnsupportedSchema, "schema_version " + shownWord(e.schema)}
	}
	return found{}, &damage{NotATrace, "object with the keys " + e.shownKeys()}
}

// shape is a format of objects that are no envelopes, told by a schema that the
// object names or by its keys.
type shape struct {
	schema   func(string) bool
	all, any mark
	read     func(*decoder) (found, error)
}

// shapes are tried in this order.
var shapes = []shape{
	{schema: knownATIF, read: (*decoder).atif},
	{schema: isEpisode, read: (*decoder).episode},
	{all: keys("conversations"), read: chatRow(shareGPT)},
	{any: keys("messages", "traj"), read: chatRow(openAI)},
	{all: keys("raw_text", "tool_calls"), read: chatRow(openAI)},
	{all: keys("sample", "grade"), read: (*decoder).graded},
	{all: keys("input", "output"), any: keys("reward", "score"), read: (*decoder).rollout},
}

// stepKeys are what documents hold that name their schema.
var stepKeys = keys("steps", "episode")

func (s *shape) is(e *envelope) bool {
	if s.schema != nil {
		return s.schema(e.schema)
	}
	named := e.schema != "" && e.marks.any(stepKeys)
	return !named && e.marks.has(s.all) && (s.any == 0 || e.marks.any(s.any))
}

// list reads an array as the dialogue or the messages of one attempt. An empty
// one is a dialogue that never began.
func (d *decoder) list() (found, error) {
	switch source := listSource(d.c.Source()); source {
	case openAI, shareGPT:
		return d.bareMessages(source)
	case dialogueFile:
	default:
		if empty := d.c.Source() == "[]"; !empty {
			return d.nothing("array of neither steps nor messages")
		}
	}
	t := newTrace(dialogueFile)
	d.readDialogue(t)
	if err := d.c.End(); err != nil {
		return found{}, err
	}
	t.ProblemID = d.parts.problemID
	return found{trace: t}, nil
}

// nothing checks a record that is no attempt and says what it is.
func (d *decoder) nothing(what string) (found, error) {
	d.c.Skip()
	if err := d.c.End(); err != nil {
		return found{}, err
	}
	return found{}, &damage{NotATrace, what}
}

// newTrace is a trace of which nothing is known but what its format says.
func newTrace(source arena.Source) *arena.Trace {
	return &arena.Trace{
		Source: source, Status: arena.StatusSuccess, Seconds: math.NaN(),
		InferenceTotal: -1, InferenceFailures: -1,
	}
}

// addVeto keeps each reason once: a trace that was written by this package may
// bring along those that reading it finds again.
func addVeto(t *arena.Trace, word string) {
	if !slices.Contains(t.Vetoes, word) {
		t.Vetoes = append(t.Vetoes, word)
	}
}

func wrongType(field, want string, got arena.Kind) error {
	return &damage{WrongType, fmt.Sprintf("%s is %s where %s should be", field, kindName(got), want)}
}

func kindName(k arena.Kind) string {
	return [...]string{"absent", "null", "a bool", "a number", "a string", "an array", "an object"}[k]
}
